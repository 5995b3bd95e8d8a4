// The answers of a decision and what stands behind each: a bar per answer, made of its models' weights.
import { scaleLinear } from "d3-scale";
import type { DecisionRecord } from "../../api/types";
import { Picture, useWidth } from "../../components/picture";
import { kSeries } from "../../lib/color";
import { decimal, percent, shortened, visible } from "../../lib/format";

const kRow = 40;

export function Answers({ decision }: { decision: DecisionRecord }) {
  const [frame, width] = useWidth();
  const votes = [...decision.votes].sort((a, b) => b.score - a.score);
  const total = votes.reduce((sum, vote) => sum + Math.max(0, vote.score), 0);
  const most = Math.max(1e-9, ...votes.map((vote) => vote.score));
  const weights = new Map(decision.responses.map((r) => [r.model, r.weight ?? 0]));
  const models = decision.responses.map((r) => r.model);
  const x = scaleLinear([0, most], [0, Math.max(60, width - 100)]);
  return (
    <Picture
      title="Answers and their totals"
      name={`decision-${decision.decision_id}-answers`}
      empty="No answer was given."
      note="Each model adds its weight to the answer it gave; the largest total is selected."
      data={{
        columns: ["answer", "total", "share", "models"],
        rows: votes.map((vote) => [vote.answer, vote.score, total > 0 ? vote.score / total : null, vote.models.join("; ")]),
      }}
    >
      <div ref={frame}>
        {width > 0 && (
          <svg width={width} height={votes.length * kRow + 4} role="img" aria-label="Totals by answer; the table has the numbers">
            {votes.map((vote, r) => {
              let at = 0;
              return (
                <g key={r}>
                  <text x={0} y={r * kRow + 12} fontWeight={r === 0 ? 600 : 400}>
                    {shortened(vote.answer ?? "(not kept)", Math.max(8, Math.floor(width / 7.5)))}
                  </text>
                  {vote.models.map((model) => {
                    const part = Math.max(0, weights.get(model) ?? 0);
                    const left = at;
                    at += part;
                    return (
                      <rect
                        key={model}
                        x={x(left)}
                        width={Math.max(0, x(part) - 1)}
                        y={r * kRow + 18}
                        height={14}
                        rx={2}
                        style={{ fill: kSeries[models.indexOf(model) % kSeries.length] ?? "#6b7280" }}
                      >
                        <title>{`${visible(model)}: ${decimal(part, 3)}`}</title>
                      </rect>
                    );
                  })}
                  <text className="axis" x={Math.min(x(Math.max(at, vote.score)) + 6, width - 92)} y={r * kRow + 29}>
                    {decimal(vote.score, 3)} · {percent(total > 0 ? vote.score / total : null, 0)}
                  </text>
                </g>
              );
            })}
          </svg>
        )}
      </div>
    </Picture>
  );
}
