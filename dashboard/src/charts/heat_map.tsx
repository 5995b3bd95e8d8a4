// HeatMap: the factors of a pool, a row per model and a column per band. One cell at a time is looked at, by pointer or arrow keys; what
// its number is made of stands beside it.
import { useRef, useState, type KeyboardEvent } from "react";
import type { Factor } from "../api/types";
import { Foreign } from "../components/bits";
import { Picture, useWidth } from "../components/picture";
import { factorPaint } from "../lib/color";
import { bandRange, decimal, shortened, signed, weight } from "../lib/format";
import { useDark } from "../lib/use_dark";

interface Props {
  pool: string;
  factors: readonly Factor[];
  trendOf: (factor: Factor) => number | null;
}

interface Row {
  model: string;
  present: boolean;
  bands: (Factor | undefined)[];
}

export function heatRows(factors: readonly Factor[]): { rows: Row[]; bands: number } {
  const rows = new Map<string, Row>();
  let bands = 0;
  for (const factor of factors) {
    bands = Math.max(bands, factor.bands);
    const row = rows.get(factor.model) ?? { model: factor.model, present: factor.present, bands: [] };
    row.bands[factor.band] = factor;
    rows.set(factor.model, row);
  }
  return { rows: [...rows.values()], bands };
}

const kRow = 30;
const kHead = 26;

export function HeatMap({ pool, factors, trendOf }: Props) {
  const dark = useDark();
  const [frame, width] = useWidth();
  const [active, setActive] = useState<{ row: number; band: number } | null>(null);
  const box = useRef<HTMLDivElement | null>(null);
  const { rows, bands } = heatRows(factors);
  const longest = Math.max(6, ...rows.map((row) => Array.from(row.model).length));
  const label = Math.round(Math.min(width * 0.4, 14 + 7.3 * Math.min(longest, 30)));
  const cell = bands === 0 ? 0 : Math.min(150, Math.max(14, (width - label - 2) / bands));
  const height = kHead + rows.length * kRow + 2;

  const move = (event: KeyboardEvent) => {
    const step: Record<string, [number, number]> = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const by = step[event.key];
    if (by === undefined || rows.length === 0) return;
    event.preventDefault();
    setActive((now) => {
      const at = now ?? { row: 0, band: -by[1] };
      return { row: Math.max(0, Math.min(rows.length - 1, at.row + by[0])), band: Math.max(0, Math.min(bands - 1, at.band + by[1])) };
    });
  };
  const chosen = active === null ? undefined : rows[active.row]?.bands[active.band];

  return (
    <Picture
      title="Factors"
      name={`${pool}-factors`}
      note="What a stated confidence is worth: calibrated = factor × stated. Below 1 (orange) a model claims too much, above 1 (blue) too little. Pale cells rest on fewer than five observations."
      empty="No factor yet: models join with their first answer."
      data={{
        columns: ["model", "band", "stated", "factor", "low", "high", "n", "trend", "present"],
        rows: factors.map((f) => [
          f.model, f.band + 1, bandRange(f.band, f.bands), f.factor, f.interval?.[0], f.interval?.[1], f.n, trendOf(f), f.present,
        ]),
      }}
    >
      <div className="heat">
        <div
          ref={(element) => {
            box.current = element;
            frame(element);
          }}
          className="heat-map"
          tabIndex={0}
          role="application"
          aria-label={`Heat map of ${rows.length} models by ${bands} bands. Arrow keys move; the table behind has every number.`}
          onKeyDown={move}
          onFocus={() => setActive((now) => now ?? { row: 0, band: bands - 1 })}
        >
          {width > 0 && (
            <svg width={width} height={height} aria-hidden="true" onPointerLeave={() => document.activeElement !== box.current && setActive(null)}>
              {Array.from({ length: bands }, (_, band) => (
                <text key={band} className="axis" x={label + (band + 0.5) * cell} y={kHead - 9} textAnchor="middle">
                  {cell > 70 ? bandRange(band, bands) : cell > 30 || band % Math.ceil(30 / cell) === 0 ? decimal(band / bands) : ""}
                </text>
              ))}
              {rows.map((row, r) => (
                <g key={row.model}>
                  <text className={row.present ? "row-name" : "row-name away"} x={label - 8} y={kHead + (r + 0.5) * kRow} textAnchor="end" dominantBaseline="central">
                    {shortened(row.model, Math.max(4, Math.floor((label - 14) / 7.2)))}
                  </text>
                  {row.bands.map((factor, band) => {
                    if (factor === undefined) return null;
                    const look = factorPaint(factor.factor, dark);
                    const thin = (factor.effective_n ?? factor.n) < 5;
                    const trend = trendOf(factor);
                    const arrow = trend === null || Math.abs(trend) < 0.03 ? "" : trend > 0 ? " ↗" : " ↘";
                    return (
                      <g key={band} onPointerEnter={() => setActive({ row: r, band })} onPointerDown={() => setActive({ row: r, band })}>
                        <rect x={label + band * cell + 1} y={kHead + r * kRow + 1} width={cell - 2} height={kRow - 2} rx={3} fill={look.fill} opacity={thin ? 0.3 : 1} />
                        {cell > 34 && (
                          <text
                            x={label + (band + 0.5) * cell}
                            y={kHead + (r + 0.5) * kRow}
                            textAnchor="middle"
                            dominantBaseline="central"
                            className={thin ? "cell thin" : "cell"}
                            style={thin ? undefined : { fill: look.ink }}
                          >
                            {decimal(factor.factor)}
                            {cell > 60 ? arrow : ""}
                          </text>
                        )}
                      </g>
                    );
                  })}
                </g>
              ))}
              {active !== null && (
                <rect className="cursor" x={label + active.band * cell} y={kHead + active.row * kRow} width={cell} height={kRow} rx={4} />
              )}
            </svg>
          )}
        </div>
        <div className="heat-detail" aria-live="polite">
          {chosen ? <Detail factor={chosen} trend={trendOf(chosen)} /> : <p className="hint">Point at a cell, or focus the map and use the arrow keys, to see what its factor is made of.</p>}
        </div>
      </div>
    </Picture>
  );
}

function Detail({ factor, trend }: { factor: Factor; trend: number | null }) {
  return (
    <>
      <h4>
        <Foreign text={factor.model} /> says {bandRange(factor.band, factor.bands)}
      </h4>
      <p className="sum">
        {decimal(factor.confidence)} × <strong>{decimal(factor.factor, 3)}</strong> = {decimal(factor.calibrated)}
      </p>
      <dl className="pairs">
        <dt>90% interval</dt>
        <dd>{factor.interval ? `${decimal(factor.interval[0])} – ${decimal(factor.interval[1])}` : "–"}</dd>
        <dt>observations</dt>
        <dd>
          {weight(factor.n)}
          {factor.effective_n !== undefined && <span className="note"> ({weight(factor.effective_n)} still count)</span>}
        </dd>
        <dt>trend</dt>
        <dd>{trend === null ? "–" : signed(trend)}</dd>
        {factor.pinned !== null && factor.pinned !== undefined && (
          <>
            <dt>pinned at</dt>
            <dd>{decimal(factor.pinned)}</dd>
          </>
        )}
        {Object.entries(factor.factor_of ?? {}).map(([name, value]) => (
          <PairOf key={name} name={name.replace(/_/g, " ")} value={value} />
        ))}
      </dl>
      {!factor.present && <p className="hint">This model has left; its factors are kept.</p>}
    </>
  );
}

function PairOf({ name, value }: { name: string; value: number }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{Number.isInteger(value) ? value : decimal(value, 3)}</dd>
    </>
  );
}
