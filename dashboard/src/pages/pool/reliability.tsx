// Whether confidences mean what they say: by model and window of time, and for the pool's own promises.
import { useMemo, useState } from "react";
import type { Activity, ModelRow, Pool, Scores } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { Histogram } from "../../charts/histogram";
import { LiveChart, type Series } from "../../charts/live_chart";
import { Reliability, type Curve } from "../../charts/reliability";
import { Empty, Loaded } from "../../components/states";
import { count, percent, visible } from "../../lib/format";
import { rollingMean } from "../../lib/statistics";

interface Calibration {
  models: Record<string, Scores>;
  decisions: Scores | null;
}

const kWindows = { latest: "latest 1,000 outcomes", hour: "last hour", day: "last day" } as const;
type Window = keyof typeof kWindows;

export function ReliabilityTab({ pool, summary }: { pool: string; summary: Pool }) {
  const path = `/v1/pools/${encodeURIComponent(pool)}`;
  const [window, setWindow] = useState<Window>("latest");
  const [picked, setPicked] = useState("");
  const models = useQuery<{ decisions: number; models: ModelRow[] }>(`${path}/models`, { pool });
  const names = models.data?.models.map((m) => m.model) ?? summary.models;
  const model = names.includes(picked) ? picked : (names[0] ?? "");
  const calibration = useQuery<Calibration>(model === "" ? null : `${path}/calibration?window=${window}&model=${encodeURIComponent(model)}`, { pool, types: ["outcome", "reverted"] });
  const activity = useQuery<Activity>(`${path}/activity`, { pool, every: 5000 });
  const row = models.data?.models.find((m) => m.model === model);

  if (model === "") return <Empty title="No model yet">Models join with their first answer.</Empty>;
  const choose = (
    <div className="row">
      <label className="row">
        Model
        <select value={model} onChange={(e) => setPicked(e.target.value)}>
          {names.map((name) => (
            <option key={name} value={name}>
              {visible(name)}
            </option>
          ))}
        </select>
      </label>
      <label className="row">
        Window
        <select value={window} onChange={(e) => setWindow(e.target.value as Window)}>
          {Object.entries(kWindows).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
  return (
    <>
      {choose}
      <div className="grid">
        <Loaded query={calibration} what="the reliability diagram">
          {(data) => (
            <Reliability
              title={`Reliability of ${visible(model)}`}
              name={`${pool}-${model}-reliability`}
              curves={curvesOf(data.models[model])}
              xLabel="confidence"
              note={`Right answers by confidence, with 90% intervals; bars count answers. ${data.models[model] ? `${count(data.models[model].window)} outcomes, ${percent(data.models[model].accuracy)} right.` : ""}`}
            />
          )}
        </Loaded>
        {row && (
          <Histogram
            title={`Confidences of ${visible(model)}`}
            name={`${pool}-${model}-confidences`}
            stated={row.stated_histogram}
            calibrated={row.calibrated_histogram}
            note={`Of its answers in the latest ${count(models.data?.decisions ?? 0)} decisions, graded or not.`}
          />
        )}
        {calibration.data && (
          <Reliability
            title="The pool's own promises"
            name={`${pool}-promises`}
            curves={calibration.data.decisions ? [{ name: "calibrated", label: "p_correct", stage: calibration.data.decisions.calibrated }] : []}
            xLabel="promised chance to be right (p_correct)"
            note="Decisions by what was promised before the outcome came; latest 1,000."
          />
        )}
        <Loaded query={activity} what="promises">
          {(data) => <Promises pool={pool} activity={data} />}
        </Loaded>
      </div>
    </>
  );
}

function curvesOf(scores: Scores | undefined): Curve[] {
  if (scores === undefined) return [];
  return [
    { name: "stated", label: "stated", stage: scores.stated },
    { name: "calibrated", label: "calibrated", stage: scores.calibrated },
  ];
}

const kSmoothed = 12; // steps

function Promises({ pool, activity }: { pool: string; activity: Activity }) {
  const times = useMemo(() => activity.settled.map((_, i) => activity.from_ms + i * activity.step_ms), [activity]);
  const series = useMemo<Series[]>(
    () => [
      { label: "promised", color: "var(--calibrated)", values: rollingMean(activity.promised_error, activity.settled, kSmoothed) },
      { label: "realised", color: "var(--stated)", dash: [6, 3], values: rollingMean(activity.realised_error, activity.settled, kSmoothed) },
    ],
    [activity],
  );
  return (
    <LiveChart
      title="Promised and realised error"
      name={`${pool}-promised-error`}
      times={times}
      series={series}
      format={(v) => percent(v, 0)}
      empty="No decision was graded in the last hour."
      note="Mean over a minute of 1 − p_correct, as promised, and of the errors that came, by when the outcome came."
      height={282}
    />
  );
}
