// HeatMap: the factors of a pool, a row per model and a column per band, and what each is made of.
import { Fragment } from "react";
import type { Factor } from "../api/types";
import { Foreign } from "../components/bits";
import { Picture } from "../components/picture";
import { factorPaint } from "../lib/color";
import { bandRange, decimal, signed, weight } from "../lib/format";
import { useDark } from "../lib/use_dark";
import { GridMap } from "./grid_map";

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

const kFew = 5; // observations below which a cell is pale
const kMoved = 0.03; // what counts as a trend

function arrow(trend: number | null): string {
  return trend === null || Math.abs(trend) < kMoved ? "" : trend > 0 ? " ↗" : " ↘";
}

export function HeatMap({ pool, factors, controls }: { pool: string; factors: readonly Factor[]; controls?: React.ReactNode }) {
  const dark = useDark();
  const { rows, bands } = heatRows(factors);
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
        rows: factors.map((f) => [f.model, f.band + 1, bandRange(f.band, f.bands), f.factor, f.interval?.[0], f.interval?.[1], f.n, f.trend, f.present]),
      }}
    >
      <GridMap
        label="Heat map of factors, models by bands of stated confidence"
        rows={rows.map((row) => ({ name: row.model, away: !row.present }))}
        columns={heads}
        cell={(r, band) => {
          const factor = rows[r]?.bands[band];
          if (factor === undefined) return null;
          const pale = (factor.effective_n ?? factor.n) < kFew;
          return { text: `${decimal(factor.factor)}${arrow(factor.trend)}`, paint: factorPaint(factor.factor, dark), pale };
        }}
        detail={(r, band) => {
          const factor = rows[r]?.bands[band];
          return factor && <Detail factor={factor} />;
        }}
        hint="Point at a cell, or use the arrow keys, to see what its factor is made of."
        first={{ row: 0, column: bands - 1 }}
      />
    </Picture>
  );
}

function Detail({ factor }: { factor: Factor }) {
  const made = Object.entries(factor.factor_of ?? {});
  return (
    <>
      <h3>
        <Foreign text={factor.model} /> says {bandRange(factor.band, factor.bands)}
      </h3>
      <p className="sum">
        {decimal(factor.confidence)} × <strong>{decimal(factor.factor, 3)}</strong> = {decimal(factor.calibrated)}
      </p>
      <dl className="pairs">
        <dt>90% interval</dt>
        <dd>{factor.interval ? `${decimal(factor.interval[0])} – ${decimal(factor.interval[1])}` : "–"}</dd>
        <dt>observations</dt>
        <dd>{weight(factor.n)}</dd>
        {factor.effective_n !== undefined && (
          <>
            <dt>still counting</dt>
            <dd>{weight(factor.effective_n)}</dd>
          </>
        )}
        <dt>trend</dt>
        <dd>{signed(factor.trend)}</dd>
        {factor.pinned !== null && (
          <>
            <dt>pinned at</dt>
            <dd>{decimal(factor.pinned)}</dd>
          </>
        )}
      </dl>
      {made.length > 0 && (
        <>
          <h3>Made of</h3>
          <dl className="pairs">
            {made.map(([name, value]) => (
              <Fragment key={name}>
                <dt>{name.replace(/_/g, " ")}</dt>
                <dd>{Number.isInteger(value) ? value : decimal(value, 3)}</dd>
              </Fragment>
            ))}
          </dl>
        </>
      )}
      {!factor.present && <p className="hint">This model has left; its factors are kept.</p>}
    </>
  );
}
