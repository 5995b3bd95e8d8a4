// Pools: every pool at a glance.
import type { Pool } from "../api/types";
import { useQuery } from "../api/use_query";
import { Badge, Foreign, Time } from "../components/bits";
import { DataTable, type Column } from "../components/data_table";
import { Empty, Loaded } from "../components/states";
import { count, percent } from "../lib/format";
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
  { name: "State", value: (p) => (p.frozen ? "frozen" : "learning"), show: (p) => <Badge tone={p.frozen ? "warn" : "good"}>{p.frozen ? "frozen" : "learning"}</Badge> },
  { name: "Models", number: true, value: (p) => p.models.length },
  { name: "Decisions", number: true, title: "Since the server started", value: (p) => p.decisions, show: (p) => count(p.decisions) },
  { name: "Accuracy", number: true, title: "Of decisions, over the latest outcomes", value: (p) => p.decision_scores?.accuracy ?? null, show: (p) => percent(p.decision_scores?.accuracy) },
  { name: "Calibrator", value: (p) => p.calibrator },
  { name: "Last event", value: (p) => p.time, show: (p) => <Time value={p.time} relative /> },
];

export function PoolsPage() {
  const query = useQuery<{ pools: Pool[] }>("/v1/pools", { pool: "*" });
  return (
    <>
      <div className="page-head">
        <h1>Pools</h1>
      </div>
      <Loaded query={query} what="pools">
        {({ pools }) =>
          pools.length === 0 ? (
            <Empty title="No pool yet">
              A pool named <code>default</code> comes with the first decision.
            </Empty>
          ) : (
            <DataTable
              caption="Pools"
              columns={kColumns}
              rows={pools}
              keyOf={(p) => p.pool}
              {...(pools.length > 5 ? { filter: "Filter pools" } : {})}
              onRow={(p) => go(href(["pools", p.pool]))}
            />
          )
        }
      </Loaded>
    </>
  );
}
