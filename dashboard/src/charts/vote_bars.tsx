// VoteBars: of the decisions a model took part in, how many its answer won, and how many it led or decided alone.
import { scaleLinear } from "d3-scale";
import type { ModelRow } from "../api/types";
import { Picture, useWidth } from "../components/picture";
import { percent, shortened } from "../lib/format";

const kRow = 26;
const kParts = [
  { key: "led", label: "led", opacity: 1 },
  { key: "won", label: "won with others", opacity: 0.5 },
  { key: "lost", label: "lost", opacity: 0.14 },
] as const;

export function VoteBars({ pool, models }: { pool: string; models: readonly ModelRow[] }) {
  const rows = models.filter((m) => m.responses > 0).sort((a, b) => b.led / b.responses - a.led / a.responses);
  const [frame, width] = useWidth();
  const longest = Math.max(6, ...rows.map((row) => Array.from(row.model).length));
  const left = Math.round(Math.min(width * 0.42, 14 + 6.9 * Math.min(longest, 32)));
  const x = scaleLinear([0, 1], [left, Math.max(left + 60, width - 52)]);
  return (
    <Picture
      title="Votes won"
      name={`${pool}-votes`}
      note="Of the answers a model gave: it led the decision, it agreed with the selected answer, or another answer was selected. The number is the share that won."
      empty="No decision yet."
      data={{
        columns: ["model", "answers", "won", "led", "decisive"],
        rows: rows.map((row) => [row.model, row.responses, row.won, row.led, row.decisive]),
      }}
    >
      <div ref={frame}>
        {width > 0 && (
          <svg width={width} height={rows.length * kRow + 4} role="img" aria-label="Votes won by model; the table has the numbers">
            {rows.map((row, r) => {
              const n = row.responses;
              const edges = [0, row.led / n, row.won / n, 1];
              return (
                <g key={row.model}>
                  <text className={row.present ? "row-name" : "row-name away"} x={left - 8} y={(r + 0.5) * kRow} textAnchor="end" dominantBaseline="central">
                    {shortened(row.model, Math.max(4, Math.floor((left - 12) / 6.9)))}
                  </text>
                  {kParts.map((part, i) => (
                    <rect
                      key={part.key}
                      className="calibrated"
                      stroke="none"
                      opacity={part.opacity}
                      x={x(edges[i] ?? 0)}
                      width={Math.max(0, x(edges[i + 1] ?? 0) - x(edges[i] ?? 0))}
                      y={r * kRow + 5}
                      height={kRow - 10}
                    >
                      <title>{`${part.label}: ${percent((edges[i + 1] ?? 0) - (edges[i] ?? 0))}`}</title>
                    </rect>
                  ))}
                  <text className="axis" x={width} y={(r + 0.5) * kRow} textAnchor="end" dominantBaseline="central">
                    {percent(row.won / n, 0)}
                  </text>
                </g>
              );
            })}
          </svg>
        )}
      </div>
      <ul className="legend">
        {kParts.map((part) => (
          <li key={part.key}>
            <svg width={12} height={12} aria-hidden="true">
              <rect className="calibrated" stroke="none" opacity={part.opacity} width={12} height={12} />
            </svg>
            {part.label}
          </li>
        ))}
      </ul>
    </Picture>
  );
}
