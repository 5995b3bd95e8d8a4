// GridMap: coloured cells in rows and columns. One cell at a time is looked at, by pointer or arrow keys; its detail stands beside it.
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { useWidth } from "../components/picture";
import type { Paint } from "../lib/color";
import { shortened } from "../lib/format";

export interface GridCell {
  text: string;
  paint: Paint;
  pale?: boolean; // little is behind it
}

interface Props {
  label: string; // for screen readers: what it is
  rows: readonly { name: string; away?: boolean }[];
  columns: readonly string[]; // heads; those that do not fit are left out
  cell: (row: number, column: number) => GridCell | null;
  detail: (row: number, column: number) => ReactNode;
  hint: string;
  first: { row: number; column: number }; // looked at before anybody points
  cellMax?: number;
}

const kHead = 24;
const kLetter = 6.9;

export function GridMap({ label, rows, columns, cell, detail, hint, first, cellMax = 240 }: Props) {
  const [frame, width] = useWidth();
  const [active, setActive] = useState(first);
  const tall = rows.length <= 8 ? 36 : rows.length <= 24 ? 28 : 22;
  const longest = Math.max(6, ...rows.map((row) => Array.from(row.name).length));
  const left = Math.round(Math.min(width * 0.4, 14 + kLetter * Math.min(longest, 32)));
  const size = columns.length === 0 ? 0 : Math.min(cellMax, Math.max(12, (width - left - 2) / columns.length));
  const drawnWidth = Math.max(left + columns.length * size + 2, 0);
  const headWidth = Math.max(...columns.map((head) => head.length)) * 6 + 8;
  const headStep = Math.max(1, Math.ceil(headWidth / size));

  const move = (event: KeyboardEvent) => {
    const steps: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const by = steps[event.key];
    if (by === undefined || rows.length === 0) return;
    event.preventDefault();
    const within = (x: number, n: number) => Math.max(0, Math.min(n - 1, x));
    setActive((at) => ({ row: within(at.row + by[0], rows.length), column: within(at.column + by[1], columns.length) }));
  };
  const chosen = active.row < rows.length && active.column < columns.length ? active : null;

  return (
    <div className="heat">
      <div
        ref={frame}
        className="heat-map"
        tabIndex={0}
        role="application"
        aria-label={`${label}: ${rows.length} rows, ${columns.length} columns. Arrow keys move; the table behind has every number.`}
        onKeyDown={move}
      >
        {width > 0 && (
          <svg width={drawnWidth} height={kHead + rows.length * tall + 2} aria-hidden="true">
            {columns.map((head, c) =>
              c % headStep === 0 ? (
                <text key={c} className="axis" x={left + (c + 0.5) * size} y={kHead - 9} textAnchor="middle">
                  {head}
                </text>
              ) : null,
            )}
            {rows.map((row, r) => (
              <g key={row.name}>
                <text className={row.away ? "row-name away" : "row-name"} x={left - 8} y={kHead + (r + 0.5) * tall} textAnchor="end" dominantBaseline="central">
                  {shortened(row.name, Math.max(4, Math.floor((left - 12) / kLetter)))}
                </text>
                {columns.map((_, c) => {
                  const content = cell(r, c);
                  if (content === null) return null;
                  return (
                    <g key={c} onPointerEnter={() => setActive({ row: r, column: c })} onPointerDown={() => setActive({ row: r, column: c })}>
                      <rect
                        x={left + c * size + 1}
                        y={kHead + r * tall + 1}
                        width={Math.max(1, size - 2)}
                        height={tall - 2}
                        rx={3}
                        fill={content.paint.fill}
                        opacity={content.pale ? 0.3 : 1}
                      />
                      {size >= 10 + kLetter * content.text.length && (
                        <text
                          x={left + (c + 0.5) * size}
                          y={kHead + (r + 0.5) * tall}
                          textAnchor="middle"
                          dominantBaseline="central"
                          className={content.pale ? "pale" : undefined}
                          style={content.pale ? undefined : { fill: content.paint.ink }}
                        >
                          {content.text}
                        </text>
                      )}
                    </g>
                  );
                })}
              </g>
            ))}
            {chosen !== null && <rect className="cursor" x={left + chosen.column * size} y={kHead + chosen.row * tall} width={size} height={tall} rx={4} />}
          </svg>
        )}
      </div>
      <div className="heat-detail" aria-live="polite">
        {chosen !== null && detail(chosen.row, chosen.column)}
        <p className="hint">{hint}</p>
      </div>
    </div>
  );
}
