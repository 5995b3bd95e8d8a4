// Reliability: how often answers are right, by the confidence that came with them. On the diagonal, a confidence means what it says.
import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { ReactNode } from "react";
import type { Stage } from "../api/types";
import { Picture, useWidth } from "../components/picture";
import { count, decimal, percent } from "../lib/format";
import { wilson } from "../lib/statistics";
import { Axes, type Area } from "./axes";

type Bin = NonNullable<Stage["bins"]>[number];

export interface Curve {
  name: "stated" | "calibrated";
  label: string;
  stage: Stage;
}

interface Props {
  title: string;
  name: string;
  curves: readonly Curve[];
  xLabel: string;
  note?: ReactNode;
  controls?: ReactNode;
}

const kHeight = 340;
const kCounts = 56; // the strip of counts below

const filled = (stage: Stage): Bin[] => (stage.bins ?? []).filter((bin) => bin.count > 0);

export function Reliability({ title, name, curves, xLabel, note, controls }: Props) {
  const rows = curves.flatMap((curve) =>
    filled(curve.stage).map((bin) => {
      const [low, high] = wilson(bin.accuracy, bin.count);
      return [curve.label, bin.confidence, bin.accuracy, low, high, bin.count] as const;
    }),
  );
  return (
    <Picture
      title={title}
      name={name}
      controls={controls}
      note={note}
      data={{ columns: ["confidence is", "mean confidence", "right", "low", "high", "answers"], rows }}
      empty="No outcome yet in this window: grade a decision, or choose a longer window."
    >
      <Drawing curves={curves} xLabel={xLabel} label={title} />
      <ul className="legend">
        {curves.map((curve) => (
          <li key={curve.name}>
            <svg width={26} height={12} aria-hidden="true">
              <line className={curve.name} x1={1} x2={25} y1={6} y2={6} strokeWidth={2} strokeDasharray={curve.name === "stated" ? "4 3" : undefined} />
              <Mark name={curve.name} x={13} y={6} r={4} />
            </svg>
            {curve.label}: ECE {percent(curve.stage.ece)}
          </li>
        ))}
      </ul>
    </Picture>
  );
}

function Mark({ name, x, y, r }: { name: Curve["name"]; x: number; y: number; r: number }) {
  return name === "stated" ? <rect className={name} x={x - r} y={y - r} width={2 * r} height={2 * r} /> : <circle className={name} cx={x} cy={y} r={r} />;
}

function Drawing({ curves, xLabel, label }: { curves: readonly Curve[]; xLabel: string; label: string }) {
  const [frame, width] = useWidth();
  const area: Area = { left: 36, right: Math.max(120, width - 8), top: 24, bottom: kHeight - kCounts - 44 };
  const x = scaleLinear([0, 1], [area.left, area.right]);
  const y = scaleLinear([0, 1], [area.bottom, area.top]);
  const most = Math.max(1, ...curves.flatMap((curve) => filled(curve.stage).map((bin) => bin.count)));
  const base = kHeight - 4;
  const tall = scaleLinear([0, most], [0, kCounts - 16]);
  const path = line<Bin>((bin) => x(bin.confidence), (bin) => y(bin.accuracy));
  return (
    <div ref={frame}>
      {width > 0 && (
        <svg width={width} height={kHeight} role="img" aria-label={`${label}: share of right answers by confidence; the table has the numbers`}>
          <Axes area={area} x={x} y={y} xLabel={xLabel} yLabel="right">
            <line className="ideal" x1={x(0)} y1={y(0)} x2={x(1)} y2={y(1)} />
          </Axes>
          {curves.map((curve, i) => (
            <g key={curve.name}>
              <path className={`${curve.name} line`} style={{ fill: "none" }} d={path(filled(curve.stage)) ?? ""} strokeDasharray={curve.name === "stated" ? "5 4" : undefined} />
              {filled(curve.stage).map((bin) => {
                const [low, high] = wilson(bin.accuracy, bin.count);
                return (
                  <g key={bin.confidence}>
                    <title>{`${curve.label} ${decimal(bin.confidence)}: right ${percent(bin.accuracy)} (90% interval ${percent(low)} to ${percent(high)}) of ${count(bin.count)}`}</title>
                    <line className={curve.name} x1={x(bin.confidence)} x2={x(bin.confidence)} y1={y(low)} y2={y(high)} strokeWidth={1} opacity={0.7} />
                    <Mark name={curve.name} x={x(bin.confidence)} y={y(bin.accuracy)} r={2.5 + 3.5 * Math.sqrt(bin.count / most)} />
                  </g>
                );
              })}
              {(curve.stage.bins ?? []).map((bin, b, all) => {
                const step = (area.right - area.left) / all.length;
                const wide = step / curves.length - 3;
                return (
                  <rect
                    key={b}
                    className={curve.name}
                    opacity={0.6}
                    x={area.left + b * step + 2 + i * (wide + 1)}
                    width={Math.max(1, wide)}
                    y={base - tall(bin.count)}
                    height={tall(bin.count)}
                    stroke="none"
                  />
                );
              })}
            </g>
          ))}
          <text className="axis" x={area.left - 6} y={base - kCounts + 20} textAnchor="end">
            {count(most)}
          </text>
        </svg>
      )}
    </div>
  );
}
