// The frame that diagrams share: margins, lines and numbers of two linear axes.
import type { ScaleLinear } from "d3-scale";
import type { ReactNode } from "react";

export interface Area {
  left: number;
  top: number;
  right: number; // coordinates, not widths
  bottom: number;
}

interface Props {
  area: Area;
  x: ScaleLinear<number, number>;
  y: ScaleLinear<number, number>;
  xLabel: string;
  yLabel: string;
  format?: (value: number) => string;
  children?: ReactNode;
}

export function Axes({ area, x, y, xLabel, yLabel, format = (v) => v.toFixed(1), children }: Props) {
  const ticks = Math.max(2, Math.min(6, Math.floor((area.right - area.left) / 48)));
  return (
    <>
      {y.ticks(5).map((value) => (
        <g key={value}>
          <line className="grid-line" x1={area.left} x2={area.right} y1={y(value)} y2={y(value)} />
          <text className="axis" x={area.left - 6} y={y(value)} textAnchor="end" dominantBaseline="central">
            {format(value)}
          </text>
        </g>
      ))}
      {x.ticks(ticks).map((value) => (
        <text key={value} className="axis" x={x(value)} y={area.bottom + 15} textAnchor="middle">
          {format(value)}
        </text>
      ))}
      <line className="base-line" x1={area.left} x2={area.right} y1={area.bottom} y2={area.bottom} />
      {children}
      <text className="axis" x={(area.left + area.right) / 2} y={area.bottom + 32} textAnchor="middle">
        {xLabel}
      </text>
      <text className="axis" x={area.left} y={area.top - 8} textAnchor="start">
        {yLabel}
      </text>
    </>
  );
}
