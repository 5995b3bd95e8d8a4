// One pool: whom to trust, why, and since when.
import type { Factor, Pool } from "../api/types";
import { useQuery } from "../api/use_query";
import { HeatMap } from "../charts/heat_map";
import { Foreign, Stat } from "../components/bits";
import { Loaded } from "../components/states";
import { count, percent } from "../lib/format";
import { href } from "../router";

const noTrend = () => null;

export function PoolPage({ pool }: { pool: string; tab: string }) {
  const path = `/v1/pools/${encodeURIComponent(pool)}`;
  const summary = useQuery<Pool>(path, { pool });
  const factors = useQuery<{ factors: Factor[] }>(`${path}/factors`, { pool, types: ["outcome", "joined", "left", "pinned", "unpinned", "reverted"] });
  return (
    <>
      <div className="page-head">
        <div>
          <div className="crumb">
            <a href={href(["pools"])}>Pools</a> /
          </div>
          <h1>
            <Foreign text={pool} />
          </h1>
        </div>
      </div>
      <Loaded query={summary} what="the pool">
        {(p) => (
          <dl className="stats">
            <Stat label="Models" value={p.models.length} />
            <Stat label="Decisions" value={count(p.decisions)} />
            <Stat label="Waiting for outcomes" value={count(p.pending)} />
            <Stat label="Accuracy" value={percent(p.decision_scores?.accuracy)} />
          </dl>
        )}
      </Loaded>
      <Loaded query={factors} what="factors">
        {(data) => <HeatMap pool={pool} factors={data.factors} trendOf={noTrend} />}
      </Loaded>
    </>
  );
}
