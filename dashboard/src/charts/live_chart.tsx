// LiveChart: series over time that keep growing, drawn by uPlot on a canvas. New data replaces old without a new chart, so a second's worth
// of news costs one frame.
import { scaleLinear, scaleTime } from "d3-scale";
import { line } from "d3-shape";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import uPlot from "uplot";
import { Picture, useWidth } from "../components/picture";
import { localTime, utcTime, visible } from "../lib/format";
import { useDark } from "../lib/use_dark";

export interface Series {
  label: string;
  color: string; // of CSS, or a variable: "var(--stated)"
  dash?: readonly number[];
  values: readonly (number | null)[];
}

export interface Mark {
  time: number; // milliseconds
  label: string;
  tone: "plain" | "warn";
}

interface Props {
  title: string;
  name: string;
  times: readonly number[]; // milliseconds
  series: readonly Series[];
  format: (value: number | null) => string;
  range?: [number, number]; // of y; else from the data, from 0
  fromZero?: boolean;
  marks?: readonly Mark[];
  note?: ReactNode;
  controls?: ReactNode;
  empty: string;
  height?: number;
}

function resolved(color: string): string {
  const name = /^var\((.*)\)$/.exec(color)?.[1];
  return name === undefined ? color : getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const none: readonly Mark[] = [];

export function LiveChart({ title, name, times, series, format, range, fromZero = true, marks = none, note, controls, empty, height = 200 }: Props) {
  const [frame, width] = useWidth();
  const dark = useDark();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef({ marks, format });
  latest.current = { marks, format };
  const [pointed, setPointed] = useState<number | null>(null);
  const data = useMemo(() => [times.map((t) => t / 1000), ...series.map((s) => s.values as (number | null)[])] as uPlot.AlignedData, [times, series]);
  const shape = series.map((s) => `${s.label}|${s.color}|${s.dash?.join(" ") ?? ""}`).join("\n");

  useEffect(() => {
    if (host.current === null || width === 0) return;
    const ink = resolved("var(--soft)");
    const rule = { stroke: resolved("var(--line)"), width: 1 };
    const font = `11px ${getComputedStyle(document.body).fontFamily}`;
    const low = range?.[0];
    const high = range?.[1];
    const plot = new uPlot(
      {
        width,
        height,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { size: 6 } },
        scales: {
          x: { time: true },
          y: {
            range: (_, min, max) => {
              const top = max === null || max === undefined ? 1 : max;
              const least = fromZero ? 0 : (min ?? 0);
              const room = Math.max((top - least) * 0.08, 1e-6);
              return [low ?? (fromZero ? 0 : least - room), high ?? (top > least ? top + room : least + 1)];
            },
          },
        },
        axes: [
          { stroke: ink, grid: { show: false }, ticks: rule, font, size: 30 },
          { stroke: ink, grid: rule, ticks: { show: false }, font, size: 52, values: (_, splits) => splits.map((v) => latest.current.format(v)) },
        ],
        series: [
          {},
          ...series.map((s) => ({
            label: s.label,
            stroke: resolved(s.color),
            width: 2,
            ...(s.dash === undefined ? {} : { dash: [...s.dash] }),
            spanGaps: true,
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [(u) => setPointed(u.cursor.idx ?? null)],
          draw: [(u) => drawMarks(u, latest.current.marks)],
        },
      },
      data,
      host.current,
    );
    chart.current = plot;
    return () => {
      plot.destroy();
      chart.current = null;
    };
    // The chart is made anew when its shape changes; data has an effect of its own.
  }, [width === 0, shape, dark, height, fromZero, range?.[0], range?.[1]]);

  useEffect(() => {
    if (chart.current !== null && width > 0) chart.current.setSize({ width, height });
  }, [width, height]);
  useEffect(() => chart.current?.setData(data), [data]);
  useEffect(() => chart.current?.redraw(false), [marks]);

  const at = pointed !== null && pointed < times.length ? pointed : times.length - 1;
  const time = times[at];
  return (
    <Picture
      title={title}
      name={name}
      note={note}
      controls={controls}
      empty={empty}
      svg={() => chartSvg(title, times, series, marks, format)}
      data={{
        columns: ["time", ...series.map((s) => s.label), ...(marks.length > 0 ? ["mark"] : [])],
        rows:
          times.length < 2
            ? []
            : [
                ...times.map((t, i) => [utcTime(new Date(t)), ...series.map((s) => s.values[i] ?? null), ...(marks.length > 0 ? [null] : [])]),
                ...marks.map((mark) => [utcTime(new Date(mark.time)), ...series.map(() => null), mark.label]),
              ],
      }}
    >
      <div ref={frame} className="live-chart" role="img" aria-label={`${title}; the table has the numbers`}>
        <div ref={host} />
      </div>
      <ul className="legend">
        {series.map((s) => (
          <li key={s.label}>
            <svg width={22} height={10} aria-hidden="true">
              <line x1={0} x2={22} y1={5} y2={5} strokeWidth={2.5} style={{ stroke: s.color }} strokeDasharray={s.dash?.join(" ")} />
            </svg>
            {visible(s.label)} <strong>{format(lastKnown(s.values, at))}</strong>
          </li>
        ))}
        {time !== undefined && pointed !== null && <li title={utcTime(new Date(time))}>at {localTime(new Date(time), new Date())}</li>}
      </ul>
    </Picture>
  );
}

function lastKnown(values: readonly (number | null)[], at: number): number | null {
  for (let i = at; i >= 0; --i) {
    const value = values[i];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

const kMarkSymbols = { plain: "◆", warn: "▲" } as const;

function drawMarks(u: uPlot, marks: readonly Mark[]): void {
  const { ctx, bbox } = u;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = `${11 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.textAlign = "center";
  for (const mark of marks) {
    const x = u.valToPos(mark.time / 1000, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.strokeStyle = ctx.fillStyle = resolved(mark.tone === "warn" ? "var(--warn)" : "var(--soft)");
    ctx.lineWidth = ratio;
    ctx.setLineDash([3 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + 10 * ratio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(kMarkSymbols[mark.tone], x, bbox.top + 9 * ratio);
  }
  ctx.restore();
}

// The same picture for a file: a canvas has no vectors to save.
export function chartSvg(title: string, times: readonly number[], series: readonly Series[], marks: readonly Mark[], format: (v: number) => string): string {
  const [width, height, left, bottom] = [720, 300, 56, 262];
  const values = series.flatMap((s) => s.values).filter((v): v is number => v !== null);
  const x = scaleTime([new Date(times[0] ?? 0), new Date(times[times.length - 1] ?? 1)], [left, width - 12]);
  const y = scaleLinear([Math.min(0, ...values), Math.max(1e-9, ...values)], [bottom, 34]).nice();
  const escaped = (text: string) => visible(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const parts = [`<text x="${left}" y="16" font-weight="600">${escaped(title)} (UTC)</text>`];
  for (const value of y.ticks(5)) {
    parts.push(`<path d="M${left} ${y(value)}H${width - 12}" stroke="#dddddd"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${escaped(format(value))}</text>`);
  }
  for (const tick of x.ticks(6)) parts.push(`<text x="${x(tick)}" y="${bottom + 16}" text-anchor="middle">${tick.toISOString().slice(11, 19)}</text>`);
  for (const mark of marks) {
    parts.push(`<path d="M${x(new Date(mark.time))} 34V${bottom}" stroke="#888888" stroke-dasharray="3 3"><title>${escaped(mark.label)}</title></path>`);
  }
  series.forEach((s, i) => {
    const path = line<number | null>((_, k) => x(new Date(times[k] ?? 0)), (v) => y(v ?? 0)).defined((v) => v !== null)([...s.values]) ?? "";
    const color = resolved(s.color);
    parts.push(`<path d="${path}" fill="none" stroke="${color}" stroke-width="2"${s.dash ? ` stroke-dasharray="${s.dash.join(" ")}"` : ""}/>`);
    parts.push(`<text x="${left + 150 * (i % 4)}" y="${height - 4 + 14 * Math.floor(i / 4)}" fill="${color}">${escaped(s.label)}</text>`);
  });
  const tall = height + 14 * Math.ceil(series.length / 4);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#ffffff"/>${parts.join("")}</svg>`;
}
