// PairMap: a square of models against models, for what pairs of them have in common.
import type { PairRow } from "../api/types";
import { Foreign } from "../components/bits";
import { Picture } from "../components/picture";
import { partPaint } from "../lib/color";
import { count, decimal, percent } from "../lib/format";
import { useDark } from "../lib/use_dark";
import { GridMap } from "./grid_map";

interface Pairs {
  models: readonly string[];
  pairs: readonly PairRow[];
}

interface Figure {
  part: (pair: PairRow) => number | null; // in [0, 1]
  base: (pair: PairRow) => number; // how many observations it rests on
}

const share = (a: number, b: number) => (b > 0 ? a / b : null);

export const kResolved: Figure = { part: (p) => share(p.calibrated, p.contests), base: (p) => p.contests };
export const kResolvedStated: Figure = { part: (p) => share(p.stated, p.contests), base: (p) => p.contests };
export const kSameWrong: Figure = { part: (p) => share(p.same_wrong, p.both_wrong), base: (p) => p.both_wrong };

interface Props {
  pool: string;
  title: string;
  note: string;
  data: Pairs;
  figure: Figure;
  hue: "above" | "below";
  controls?: React.ReactNode;
}

export function PairMap({ pool, title, note, data, figure, hue, controls }: Props) {
  const dark = useDark();
  const found = new Map(data.pairs.map((pair) => [`${pair.first},${pair.second}`, pair]));
  const at = (row: number, column: number) => found.get(`${Math.min(row, column)},${Math.max(row, column)}`);
  return (
    <Picture
      title={title}
      name={`${pool}-${title}`}
      note={note}
      controls={controls}
      empty="No pair yet: it takes decisions in which two models were graded."
      data={{
        columns: ["model", "other", "part", "observations", "together", "contests", "resolved stated", "resolved calibrated", "both wrong", "same wrong answer"],
        rows: data.pairs.map((p) => [
          data.models[p.first], data.models[p.second], figure.part(p), figure.base(p), p.together, p.contests, p.stated, p.calibrated, p.both_wrong, p.same_wrong,
        ]),
      }}
    >
      <GridMap
        label={title}
        rows={data.models.map((name, i) => ({ name: `${name}  ${i + 1}` }))}
        columns={data.models.map((_, i) => String(i + 1))}
        cellMax={84}
        cell={(row, column) => {
          const pair = at(row, column);
          const part = pair && figure.part(pair);
          if (row === column || pair === undefined || part === null || part === undefined) return null;
          return { text: percent(part, 0), paint: partPaint(part, dark, hue), pale: figure.base(pair) < 10 };
        }}
        detail={(row, column) => {
          const pair = at(row, column);
          return pair && row !== column && <Detail pair={pair} models={data.models} />;
        }}
        hint="Point at a cell, or use the arrow keys, to see the pair."
        first={{ row: 0, column: 1 }}
      />
    </Picture>
  );
}

function Detail({ pair, models }: { pair: PairRow; models: readonly string[] }) {
  return (
    <>
      <h3>
        <Foreign text={models[pair.first] ?? ""} /> and <Foreign text={models[pair.second] ?? ""} />
      </h3>
      <dl className="pairs">
        <dt>graded together</dt>
        <dd>{count(pair.together)}</dd>
        <dt>outcomes differ</dt>
        <dd>{count(pair.contests)}</dd>
        <dt>told apart, stated</dt>
        <dd>{percent(share(pair.stated, pair.contests))}</dd>
        <dt>told apart, calibrated</dt>
        <dd>{percent(share(pair.calibrated, pair.contests))}</dd>
        <dt>both wrong</dt>
        <dd>{count(pair.both_wrong)}</dd>
        <dt>the same wrong answer</dt>
        <dd>
          {count(pair.same_wrong)} ({decimal(share(pair.same_wrong, pair.both_wrong))})
        </dd>
      </dl>
    </>
  );
}
