// PoolPicker: which pool a page is about, kept in the address.
import { useEffect } from "react";
import type { Pool } from "../api/types";
import { useQuery } from "../api/use_query";
import { visible } from "../lib/format";
import { go, href, useLocation } from "../router";

// The pool of the address, or the one where most happened.
export function usePool(): { pool: string | null; pools: readonly string[] } {
  const { parts, query } = useLocation();
  const list = useQuery<{ pools: Pool[] }>("/v1/pools", { every: 30_000 });
  const wanted = query.get("pool");
  const busiest = list.data && [...list.data.pools].sort((a, b) => b.decisions_per_minute - a.decisions_per_minute || b.offset - a.offset)[0]?.pool;
  useEffect(() => {
    if (wanted === null && busiest !== undefined) go(href(parts, { ...Object.fromEntries(query), pool: busiest }), { replace: true });
  }, [wanted, busiest]);
  return { pool: wanted, pools: list.data?.pools.map((p) => p.pool) ?? (wanted === null ? [] : [wanted]) };
}

export function PoolPicker({ pool, pools, page }: { pool: string; pools: readonly string[]; page: string }) {
  return (
    <label>
      Pool
      <select value={pool} onChange={(e) => go(href([page], { pool: e.target.value }))}>
        {[...new Set([...pools, pool])].map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}
