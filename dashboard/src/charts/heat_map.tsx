// HeatMap: the factors of a pool, a row per model and a column per band, and what each is made of.
import { Fragment, type ReactNode } from "react";
import type { Factor, HeatRow } from "../api/types";
import { useQuery } from "../api/use_query";
import { Foreign } from "../components/bits";
import { Picture } from "../components/picture";
import { factorPaint } from "../lib/color";
import { bandRange, decimal, kNone, signed, weight } from "../lib/format";
import { useDark } from "../lib/use_dark";
import { GridMap } from "./grid_map";

// One band of a row.
interface HeatCell {
  factor: number;
  n: number;
  counting: number; // observations that still count
  trend: number | null;
  low: number | null;
  high: number | null;
}

export function heatCell(row: HeatRow, band: number): HeatCell | null {
  const factor = row.factor[band];
  if (factor === undefined) return null;
  const n = row.n[band] ?? 0;
  return { factor, n, counting: row.effective_n?.[band] ?? n, trend: row.trend[band] ?? null, low: row.low?.[band] ?? null, high: row.high?.[band] ?? null };
}

const kFew = 5; // observations below which a cell is pale
const kMoved = 0.03; // what counts as a trend

function arrow(trend: number | null): string {
  return trend === null || Math.abs(trend) < kMoved ? "" : trend > 0 ? " ↗" : " ↘";
}

export function HeatMap({ pool, rows, controls }: { pool: string; rows: readonly HeatRow[]; controls?: ReactNode }) {
  const dark = useDark();
  const bands = Math.max(0, ...rows.map((row) => row.factor.length));
  const heads = Array.from({ length: bands }, (_, band) => (bands <= 5 ? bandRange(band, bands) : decimal(band / bands)));
  return (
    <Picture
      title="Factors: what a stated confidence is worth"
      name={`${pool}-factors`}
      controls={controls}
      note={`Calibrated = factor × stated. Below 1 (orange) a model claims too much, above 1 (blue) too little; arrows show where a factor is moving. Pale cells rest on fewer than ${kFew} observations.`}
      empty="No factor yet: models join with their first answer."
      data={{
        columns: ["model", "band", "stated", "factor", "low", "high", "n", "trend", "present"],
        rows: rows.flatMap((row) =>
          row.factor.map((_, band) => {
            const cell = heatCell(row, band);
            return [row.model, band + 1, bandRange(band, row.factor.length), cell?.factor, cell?.low, cell?.high, cell?.n, cell?.trend, row.present];
          }),
        ),
      }}
    >
      <GridMap
        label="Heat map of factors, models by bands of stated confidence"
        rows={rows.map((row) => ({ name: row.model, away: !row.present }))}
        columns={heads}
        cell={(r, band) => {
          const row = rows[r];
          const cell = row && heatCell(row, band);
          return cell ? { text: `${decimal(cell.factor)}${arrow(cell.trend)}`, paint: factorPaint(cell.factor, dark), pale: cell.counting < kFew } : null;
        }}
        detail={(r, band) => {
          const row = rows[r];
          const cell = row && heatCell(row, band);
          return row && cell && <Detail pool={pool} row={row} band={band} cell={cell} />;
        }}
        hint="Point at a cell, or use the arrow keys, to see what its factor is made of."
        first={{ row: 0, column: bands - 1 }}
      />
    </Picture>
  );
}

function Detail({ pool, row, band, cell }: { pool: string; row: HeatRow; band: number; cell: HeatCell }) {
  // What a factor is made of is asked for the model that is looked at.
  const path = `/v1/pools/${encodeURIComponent(pool)}/factors?model=${encodeURIComponent(row.model)}`;
  const full = useQuery<{ factors: Factor[] }>(path, { pool, types: ["outcome"], pace: 2000 });
  const made = full.data?.factors.find((f) => f.band === band && f.channel === row.channel && f.segment === row.segment);
  const bands = row.factor.length;
  const stated = (band + 0.5) / bands;
  return (
    <>
      <h3>
        <Foreign text={row.model} /> says {bandRange(band, bands)}
      </h3>
      <p className="sum">
        {decimal(stated)} × <strong>{decimal(cell.factor, 3)}</strong> = {decimal(made?.calibrated ?? Math.min(1, stated * cell.factor))}
      </p>
      <dl className="pairs">
        <dt>90% interval</dt>
        <dd>{cell.low === null ? kNone : `${decimal(cell.low)} – ${decimal(cell.high)}`}</dd>
        <dt>observations</dt>
        <dd>{weight(cell.n)}</dd>
        {row.effective_n !== undefined && (
          <>
            <dt>still counting</dt>
            <dd>{weight(cell.counting)}</dd>
          </>
        )}
        <dt>trend</dt>
        <dd>{signed(cell.trend)}</dd>
        {row.pinned !== null && (
          <>
            <dt>pinned at</dt>
            <dd>{decimal(row.pinned)}</dd>
          </>
        )}
      </dl>
      {made?.factor_of !== undefined && (
        <>
          <h3>Made of</h3>
          <dl className="pairs">
            {Object.entries(made.factor_of).map(([name, value]) => (
              <Fragment key={name}>
                <dt>{name.replace(/_/g, " ")}</dt>
                <dd>{Number.isInteger(value) ? value : decimal(value, 3)}</dd>
              </Fragment>
            ))}
          </dl>
        </>
      )}
      {!row.present && <p className="hint">This model has left; its factors are kept.</p>}
    </>
  );
}
