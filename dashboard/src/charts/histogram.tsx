// Histogram: how often a model states each confidence, above the line, and what that became when calibrated, below it.
import { scaleLinear } from "d3-scale";
import type { ReactNode } from "react";
import { Picture, useWidth } from "../components/picture";
import { count, decimal } from "../lib/format";

interface Props {
  title: string;
  name: string;
  stated: readonly number[];
  calibrated: readonly number[];
  controls?: ReactNode;
  note?: ReactNode;
}

const kHeight = 232;

export function Histogram({ title, name, stated, calibrated, controls, note }: Props) {
  const bins = stated.length;
  const total = stated.reduce((a, b) => a + b, 0);
  return (
    <Picture
      title={title}
      name={name}
      controls={controls}
      note={note}
      empty="No answer yet."
      data={{
        columns: ["from", "to", "stated", "calibrated"],
        rows: total === 0 ? [] : stated.map((n, i) => [i / bins, (i + 1) / bins, n, calibrated[i] ?? 0]),
      }}
    >
      <Drawing stated={stated} calibrated={calibrated} label={title} />
      <ul className="legend">
        <li>
          <svg width={12} height={12} aria-hidden="true">
            <rect className="stated" width={12} height={12} />
          </svg>
          stated (up)
        </li>
        <li>
          <svg width={12} height={12} aria-hidden="true">
            <rect className="calibrated" width={12} height={12} />
          </svg>
          calibrated (down)
        </li>
      </ul>
    </Picture>
  );
}

function Drawing({ stated, calibrated, label }: { stated: readonly number[]; calibrated: readonly number[]; label: string }) {
  const [frame, width] = useWidth();
  const bins = stated.length;
  const most = Math.max(1, ...stated, ...calibrated);
  const left = 36;
  const x = scaleLinear([0, 1], [left, Math.max(120, width - 8)]);
  const middle = kHeight / 2 - 8;
  const tall = scaleLinear([0, most], [0, middle - 14]);
  const step = (x(1) - x(0)) / bins;
  const bar = (n: number, i: number, up: boolean) => (
    <rect
      key={`${up}${i}`}
      className={up ? "stated" : "calibrated"}
      stroke="none"
      x={x(i / bins) + 1}
      width={Math.max(1, step - 2)}
      y={up ? middle - tall(n) : middle + 1}
      height={tall(n)}
    >
      <title>{`${up ? "stated" : "calibrated"} ${decimal(i / bins)} to ${decimal((i + 1) / bins)}: ${count(n)}`}</title>
    </rect>
  );
  return (
    <div ref={frame}>
      {width > 0 && (
        <svg width={width} height={kHeight} role="img" aria-label={`${label}; the table has the numbers`}>
          {stated.map((n, i) => bar(n, i, true))}
          {calibrated.map((n, i) => bar(n, i, false))}
          <line className="base-line" x1={x(0)} x2={x(1)} y1={middle} y2={middle} />
          {[most, 0, -most].map((n) => (
            <text key={n} className="axis" x={left - 6} y={middle - Math.sign(n) * tall(Math.abs(n))} textAnchor="end" dominantBaseline="central">
              {count(Math.abs(n))}
            </text>
          ))}
          {[0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => (
            <text key={value} className="axis" x={x(value)} y={kHeight - 4} textAnchor="middle">
              {value.toFixed(1)}
            </text>
          ))}
        </svg>
      )}
    </div>
  );
}
