// Decisions: the latest of a pool, as they happen, and a search among them.
import { useEffect, useState } from "react";
import type { DecisionSummary, Pool } from "../api/types";
import { useQuery } from "../api/use_query";
import { DataTable } from "../components/data_table";
import { kAnswer, kChance, kModel, kOutcome, kStatus, kTask, kTime } from "../components/decision_cells";
import { PoolPicker, usePool } from "../components/pool_picker";
import { Empty, Loaded, Loading } from "../components/states";
import { visible } from "../lib/format";
import { go, href, useLocation } from "../router";

const kColumns = [kTime, kTask, kAnswer, kModel, kChance, kStatus, kOutcome];
const kFilters = ["q", "model", "status", "answered", "graded"] as const;
const kPage = 100;

export function DecisionsPage() {
  const { pool, pools } = usePool();
  if (pool === null) return <Loading what="pools" />;
  return <Decisions pool={pool} pools={pools} />;
}

function Decisions({ pool, pools }: { pool: string; pools: readonly string[] }) {
  const { query } = useLocation();
  const [held, setHeld] = useState(false);
  const filters = Object.fromEntries(kFilters.map((name) => [name, query.get(name) ?? ""]));
  const search = new URLSearchParams({ pool, limit: String(kPage) });
  for (const [name, value] of Object.entries(filters)) if (value !== "") search.set(name, value);
  const path = `/v1/decisions?${search}`;
  const list = useQuery<{ decisions: DecisionSummary[] }>(path, held ? { every: 1e9 } : { pool, types: ["decision", "outcome", "reverted"] });
  const summary = useQuery<Pool>(`/v1/pools/${encodeURIComponent(pool)}`, { every: 30_000 });
  const set = (name: string, value: string) => go(href(["decisions"], { ...filters, pool, [name]: value }), { replace: true });
  const filtered = kFilters.some((name) => filters[name] !== "");
  return (
    <>
      <div className="page-head">
        <h1>Decisions</h1>
        <p className="sub">The latest of a pool, newest first. The index holds the latest 4,096; older ones are found by their id.</p>
      </div>
      <search className="row end">
        <PoolPicker pool={pool} pools={pools} page="decisions" />
        <SearchField value={filters.q ?? ""} onChange={(value) => set("q", value)} />
        <Choice label="Led by" value={filters.model ?? ""} onChange={(v) => set("model", v)} options={["", ...(summary.data?.models ?? [])]} any="anyone" />
        <Choice label="Status" value={filters.status ?? ""} onChange={(v) => set("status", v)} options={["", "calibrated", "cold", "drifting", "stale"]} any="any" />
        <Choice label="Answered" value={filters.answered ?? ""} onChange={(v) => set("answered", v)} options={["", "true", "false"]} any="any" names={{ true: "answered", false: "abstained" }} />
        <Choice label="Outcome" value={filters.graded ?? ""} onChange={(v) => set("graded", v)} options={["", "true", "false"]} any="any" names={{ true: "known", false: "open" }} />
        <button type="button" aria-pressed={held} onClick={() => setHeld((now) => !now)}>
          {held ? "▶ Go on" : "❚❚ Hold still"}
        </button>
      </search>
      <Loaded query={list} what="decisions">
        {({ decisions }) =>
          decisions.length === 0 ? (
            <Empty title={filtered ? "Nothing matches" : "No decision yet"}>
              {filtered ? (
                <button type="button" onClick={() => go(href(["decisions"], { pool }), { replace: true })}>
                  Clear the search
                </button>
              ) : (
                <pre>margin decide alpha=Paris:0.9 beta=Lyon:0.95</pre>
              )}
            </Empty>
          ) : (
            <DataTable caption="Decisions" columns={kColumns} rows={decisions} keyOf={(d) => d.decision_id} onRow={(d) => go(href(["decisions", d.decision_id]))} />
          )
        }
      </Loaded>
    </>
  );
}

const kTyping = 250; // milliseconds after the last letter

function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onChange(typed), kTyping);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label>
      Task, answer or id
      <input type="search" value={typed} onChange={(e) => setTyped(e.target.value)} placeholder="part of it" />
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  any: string;
  names?: Record<string, string>;
  onChange: (value: string) => void;
}

function Choice({ label, value, options, any, names = {}, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(e) => onChange(e.target.value)}>
        {[...new Set([...options, value])].map((option) => (
          <option key={option} value={option}>
            {option === "" ? any : (names[option] ?? visible(option))}
          </option>
        ))}
      </select>
    </label>
  );
}
