// Grade these first: open decisions, ordered by what their outcome would teach.
import type { DecisionSummary } from "../api/types";
import { useQuery } from "../api/use_query";
import { Badge } from "../components/bits";
import { DataTable, type Column } from "../components/data_table";
import { kAnswer, kChance, kModel, kTask, kTime } from "../components/decision_cells";
import { PoolPicker, usePool } from "../components/pool_picker";
import { Empty, Loaded, Loading } from "../components/states";
import { decimal } from "../lib/format";
import { go, href } from "../router";

const kColumns: Column<DecisionSummary>[] = [
  {
    name: "Teaches",
    number: true,
    title: "Variance of what is not known, by how much was seen of it: high where the pool is unsure and has seen little",
    value: (d) => d.teaches,
    show: (d) => (
      <>
        {d.wanted > 0 && (
          <Badge tone="info" title="Chosen by the pool's audit: grade it whoever won, or what is learned leans to the winners">
            audit
          </Badge>
        )}{" "}
        {decimal(d.teaches, 3)}
      </>
    ),
  },
  kTask,
  kAnswer,
  kModel,
  kChance,
  { name: "Models", number: true, value: (d) => d.responses },
  kTime,
];

export function QueuePage() {
  const { pool, pools } = usePool();
  if (pool === null) return <Loading what="pools" />;
  return <Queue pool={pool} pools={pools} />;
}

function Queue({ pool, pools }: { pool: string; pools: readonly string[] }) {
  const query = useQuery<{ decisions: DecisionSummary[] }>(`/v1/pools/${encodeURIComponent(pool)}/queue?limit=50`, { pool, types: ["decision", "outcome"], pace: 3000 });
  return (
    <>
      <div className="page-head">
        <h1>Grade these first</h1>
        <p className="sub">
          Decisions without an outcome. Those wanted by the audit come first, then those whose outcome would move most of what is known: where the pool is unsure and
          has seen little.
        </p>
      </div>
      <div className="row end">
        <PoolPicker pool={pool} pools={pools} page="queue" />
      </div>
      <Loaded query={query} what="the queue">
        {({ decisions }) =>
          decisions.length === 0 ? (
            <Empty title="Nothing to grade">Every decision that is still remembered has an outcome.</Empty>
          ) : (
            <DataTable caption="Decisions to grade first" columns={kColumns} rows={decisions} keyOf={(d) => d.decision_id} onRow={(d) => go(href(["decisions", d.decision_id]))} />
          )
        }
      </Loaded>
    </>
  );
}
