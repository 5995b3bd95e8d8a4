// Factors now and how they came to be, with what the pool does meanwhile.
import { useMemo, useState } from "react";
import type { Activity, FactorHistory, HeatRow, Pool } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { HeatMap } from "../../charts/heat_map";
import { LiveChart, type Mark, type Series } from "../../charts/live_chart";
import { Loaded } from "../../components/states";
import { kDashes, kSeries } from "../../lib/color";
import { bandRange, decimal, percent, rate, visible } from "../../lib/format";
import { carried } from "../../lib/statistics";

const kLearning = ["outcome", "joined", "left", "pinned", "unpinned", "reverted", "configured", "imported"];

export function OverviewTab({ pool }: { pool: string; summary: Pool }) {
  const path = `/v1/pools/${encodeURIComponent(pool)}`;
  const heat = useQuery<{ rows: HeatRow[] }>(`${path}/heat`, { pool, types: kLearning, every: 3000 });
  const activity = useQuery<Activity>(`${path}/activity`, { pool, every: 5000 });
  return (
    <>
      <Loaded query={heat} what="factors">
        {(data) => <Factors pool={pool} rows={data.rows} />}
      </Loaded>
      <Loaded query={activity} what="activity">
        {(data) => <ActivityCharts pool={pool} activity={data} />}
      </Loaded>
    </>
  );
}

const cellOf = (f: HeatRow) => JSON.stringify([f.channel, f.segment]);

function cellLabel(cell: string): string {
  const [channel = "", segment = ""] = JSON.parse(cell) as string[];
  return visible(segment === "" ? channel : `${channel} · ${segment}`);
}

function Factors({ pool, rows }: { pool: string; rows: readonly HeatRow[] }) {
  const cells = [...new Set(rows.map(cellOf))];
  const [wanted, setWanted] = useState("");
  const cell = cells.includes(wanted) ? wanted : (cells[0] ?? "");
  const shown = rows.filter((row) => cellOf(row) === cell);
  const select = cells.length > 1 && (
    <label className="row">
      Cell
      <select value={cell} onChange={(e) => setWanted(e.target.value)}>
        {cells.map((c) => (
          <option key={c} value={c}>
            {cellLabel(c)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      <HeatMap pool={pool} rows={shown} controls={select} />
      {shown[0] !== undefined && <History pool={pool} rows={shown} cell={cell} />}
    </>
  );
}

const kNames: Record<string, string> = { joined: "joins", left: "leaves", reverted: "feedback taken back", drift: "drift" };

function marksOf(history: FactorHistory): Mark[] {
  const first = history.times_ms[0] ?? 0;
  return history.marks
    .filter((mark) => mark.time_ms >= first)
    .map((mark) => ({
      time: mark.time_ms,
      label: `${visible(mark.model)} ${kNames[mark.kind] ?? mark.kind.replace(/_/g, " ")}`.trim(),
      tone: mark.kind in kNames && mark.kind !== "drift" ? "plain" : "warn",
    }));
}

// One band of every model, or every band of one model.
function History({ pool, rows, cell }: { pool: string; rows: readonly HeatRow[]; cell: string }) {
  const bands = rows[0]?.factor.length ?? 1;
  const models = rows.map((row) => row.model);
  const [choice, setChoice] = useState(`band:${bands - 1}`);
  const query = choice.startsWith("band:") ? `band=${choice.slice(5)}` : `model=${encodeURIComponent(choice.slice(6))}`;
  const history = useQuery<FactorHistory>(`/v1/pools/${encodeURIComponent(pool)}/history?${query}`, { pool, types: [...kLearning, "alarm"] });
  const drawn = useMemo(() => (history.data ? historySeries(history.data, cell, choice) : null), [history.data, cell, choice]);
  const marks = useMemo(() => (history.data ? marksOf(history.data) : []), [history.data]);
  return (
    <Loaded query={history} what="the history">
      {(data) => (
        <LiveChart
          title="How factors moved"
          name={`${pool}-factor-history`}
          times={data.times_ms}
          series={drawn?.series ?? []}
          marks={marks}
          format={(v) => decimal(v)}
          height={240}
          empty="Nothing learned since the server started; the history begins with the next outcome."
          note={
            <>
              Since the server started. ◆ a model joins or leaves, ▲ an alarm.
              {marks.length > 0 && <> Latest: {marks[marks.length - 1]?.label}.</>}
              {drawn && drawn.left > 0 && <> {drawn.left} more models are in the table of the heat map.</>}
            </>
          }
          controls={
            <label className="row">
              Show
              <select value={choice} onChange={(e) => setChoice(e.target.value)}>
                {Array.from({ length: bands }, (_, band) => (
                  <option key={band} value={`band:${band}`}>
                    all models at {bandRange(band, bands)}
                  </option>
                ))}
                {models.map((model) => (
                  <option key={model} value={`model:${model}`}>
                    {visible(model)}
                  </option>
                ))}
              </select>
            </label>
          }
        />
      )}
    </Loaded>
  );
}

function historySeries(history: FactorHistory, cell: string, choice: string): { series: Series[]; left: number } {
  const points = history.times_ms.length;
  const padded = (born: number, values: readonly number[]) => [...Array<null>(Math.min(born, points)).fill(null), ...values].slice(0, points);
  const lines = history.series
    .filter((s) => JSON.stringify([s.channel, s.segment]) === cell)
    .flatMap((s) =>
      s.factors.map((f) => ({
        label: choice.startsWith("band:") ? s.model : bandRange(f.band, s.bands),
        values: padded(s.born, f.values),
      })),
    );
  const series = lines.slice(0, kSeries.length).map((s, i) => ({
    ...s,
    color: kSeries[i] ?? "#6b7280",
    ...(i === 0 ? {} : { dash: (kDashes[i] ?? "").split(" ").map(Number) }),
  }));
  return { series, left: lines.length - series.length };
}

function ActivityCharts({ pool, activity }: { pool: string; activity: Activity }) {
  const times = useMemo(() => activity.decisions.map((_, i) => activity.from_ms + i * activity.step_ms), [activity]);
  const perMinute = 60_000 / activity.step_ms;
  const ece = useMemo<Series[]>(
    () => [
      { label: "stated", color: "var(--stated)", dash: [6, 3], values: carried(activity.ece_stated) },
      { label: "calibrated", color: "var(--calibrated)", values: carried(activity.ece_calibrated) },
    ],
    [activity],
  );
  // The step that has only begun would look like a fall.
  const complete = (values: readonly number[]) => values.map((n, i) => (i === values.length - 1 ? null : n * perMinute));
  const traffic = useMemo<Series[]>(
    () => [
      { label: "decisions", color: "var(--calibrated)", values: complete(activity.decisions) },
      { label: "outcomes", color: "var(--stated)", dash: [6, 3], values: complete(activity.outcomes) },
    ],
    [activity],
  );
  return (
    <div className="grid">
      <LiveChart title="Calibration error (ECE)" name={`${pool}-ece`} times={times} series={ece} format={(v) => percent(v)} empty="No outcome in the last hour." note="Over the latest 1,000 answers that were graded; lower is better." />
      <LiveChart title="Per minute" name={`${pool}-activity`} times={times} series={traffic} format={rate} empty="No decision in the last hour." note="Decisions made and outcomes that came, in the last hour at most." />
    </div>
  );
}
