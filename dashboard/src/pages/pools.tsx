// Pools: every pool at a glance.
import type { Pool } from "../api/types";
import { useQuery } from "../api/use_query";
import { Badge, Foreign, StatusBadge, Time } from "../components/bits";
import { DataTable, type Column } from "../components/data_table";
import { Empty, Loaded } from "../components/states";
import { count, percent, rate } from "../lib/format";
import { go, href } from "../router";

const kColumns: Column<Pool>[] = [
  {
    name: "Pool",
    value: (p) => p.pool,
    show: (p) => (
      <a href={href(["pools", p.pool])} onClick={(e) => e.stopPropagation()}>
        <Foreign text={p.pool} />
      </a>
    ),
  },
  {
    name: "Status",
    title: "Of the probabilities it gives now",
    value: (p) => p.status,
    show: (p) => (
      <>
        <StatusBadge status={p.status} /> {p.frozen && <Badge tone="warn">frozen</Badge>}
      </>
    ),
  },
  { name: "Models", number: true, value: (p) => p.models.length },
  { name: "Decisions / min", number: true, title: "Over the last minute", value: (p) => p.decisions_per_minute, show: (p) => rate(p.decisions_per_minute) },
  { name: "ECE stated", number: true, title: "Expected calibration error of what models state", value: (p) => p.response_scores?.stated.ece ?? null, show: (p) => percent(p.response_scores?.stated.ece) },
  { name: "ECE calibrated", number: true, title: "The same after calibration", value: (p) => p.response_scores?.calibrated.ece ?? null, show: (p) => percent(p.response_scores?.calibrated.ece) },
  { name: "Accuracy", number: true, title: "Of decisions, over the latest outcomes", value: (p) => p.decision_scores?.accuracy ?? null, show: (p) => percent(p.decision_scores?.accuracy) },
  { name: "Waiting", number: true, title: "Decisions without all their outcomes", value: (p) => p.pending, show: (p) => count(p.pending) },
  {
    name: "Alarms",
    number: true,
    value: (p) => p.alarms,
    show: (p) =>
      p.alarms === 0 ? (
        "0"
      ) : (
        <a href={href(["pools", p.pool, "alarms"])} onClick={(e) => e.stopPropagation()}>
          ▲ {count(p.alarms)}
        </a>
      ),
  },
  { name: "Last event", value: (p) => p.time, show: (p) => <Time value={p.time} relative /> },
];

export function PoolsPage() {
  const query = useQuery<{ pools: Pool[] }>("/v1/pools", { pool: "*" });
  return (
    <>
      <div className="page-head">
        <h1>Pools</h1>
        <p className="sub">Models that answer the same questions, what their confidence is worth, and how well their decisions hold.</p>
      </div>
      <Loaded query={query} what="pools">
        {({ pools }) => (
          <>
            <DataTable
              caption="Pools"
              columns={kColumns}
              rows={pools}
              keyOf={(p) => p.pool}
              {...(pools.length > 5 ? { filter: "Filter pools" } : {})}
              onRow={(p) => go(href(["pools", p.pool]))}
            />
            {pools.every((p) => p.models.length === 0) && <FirstSteps />}
          </>
        )}
      </Loaded>
    </>
  );
}

function FirstSteps() {
  return (
    <Empty title="Nothing was decided yet">
      Ask for a decision, and tell later what was right:
      <pre>{`margin decide alpha=Paris:0.9 beta=Lyon:0.95
margin feedback DECISION --correct-answer Paris`}</pre>
      or start with <code>./run.sh --demo</code> to see simulated models at work.
    </Empty>
  );
}
