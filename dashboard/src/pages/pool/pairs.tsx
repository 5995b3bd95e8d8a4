// Pairs of models: who is right when they differ, and who errs with whom.
import { useState } from "react";
import type { PairRow, Pool } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { kResolved, kResolvedStated, kSameWrong, PairMap } from "../../charts/pair_map";
import { Loaded } from "../../components/states";

export function PairsTab({ pool }: { pool: string; summary: Pool }) {
  const query = useQuery<{ models: string[]; pairs: PairRow[] }>(`/v1/pools/${encodeURIComponent(pool)}/pairs`, { pool, types: ["outcome", "reverted"] });
  const [stated, setStated] = useState(false);
  return (
    <Loaded query={query} what="pairs">
      {(data) => (
        <>
          <PairMap
            pool={pool}
            title="Pairwise resolution"
            note="Of the decisions where one of two models was right and the other wrong: how often the right one had the higher confidence. Half is a coin; calibration should raise it."
            data={data}
            figure={stated ? kResolvedStated : kResolved}
            hue="above"
            controls={
              <label className="row">
                By
                <select value={stated ? "stated" : "calibrated"} onChange={(e) => setStated(e.target.value === "stated")}>
                  <option value="calibrated">calibrated confidence</option>
                  <option value="stated">stated confidence</option>
                </select>
              </label>
            }
          />
          <PairMap
            pool={pool}
            title="Same wrong answer"
            note="Of the decisions where both were wrong: how often with the same answer. Pairs far above the others share errors: copies of one model, or worse."
            data={data}
            figure={kSameWrong}
            hue="below"
          />
        </>
      )}
    </Loaded>
  );
}
