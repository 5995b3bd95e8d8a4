// One pool: whom to trust, why, and since when.
import type { Pool } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { Badge, Foreign, Stat, StatusBadge, Time } from "../../components/bits";
import { Loaded } from "../../components/states";
import { count, kNone, percent, rate, signed } from "../../lib/format";
import { href } from "../../router";
import { AlarmsTab } from "./alarms";
import { ModelsTab } from "./models";
import { OverviewTab } from "./overview";
import { PairsTab } from "./pairs";
import { ReliabilityTab } from "./reliability";

const kTabs = [
  { part: "", title: "Factors", show: OverviewTab },
  { part: "reliability", title: "Reliability", show: ReliabilityTab },
  { part: "models", title: "Models", show: ModelsTab },
  { part: "pairs", title: "Pairs", show: PairsTab },
  { part: "alarms", title: "Alarms", show: AlarmsTab },
] as const;

export function PoolPage({ pool, tab }: { pool: string; tab: string }) {
  const summary = useQuery<Pool>(`/v1/pools/${encodeURIComponent(pool)}`, { pool });
  const chosen = kTabs.find((t) => t.part === tab) ?? kTabs[0];
  return (
    <>
      <div className="page-head">
        <div>
          <div className="crumb">
            <a href={href(["pools"])}>Pools</a> /
          </div>
          <h1>
            <Foreign text={pool} length={64} />
          </h1>
        </div>
        {summary.data && <Marks pool={summary.data} />}
      </div>
      <Loaded query={summary} what="the pool">
        {(p) => <Figures pool={p} />}
      </Loaded>
      <nav className="tabs" aria-label="Views of the pool">
        {kTabs.map(({ part, title }) => (
          <a key={part} href={href(["pools", pool, ...(part === "" ? [] : [part])])} aria-current={chosen.part === part ? "page" : undefined}>
            {title}
            {part === "alarms" && (summary.data?.alarms ?? 0) > 0 && <span className="note"> {summary.data?.alarms}</span>}
          </a>
        ))}
        <a href={href(["decisions"], { pool })}>Decisions</a>
        <a href={href(["queue"], { pool })}>Grade first</a>
      </nav>
      {summary.data && <chosen.show pool={pool} summary={summary.data} />}
    </>
  );
}

function Marks({ pool }: { pool: Pool }) {
  return (
    <div className="row">
      <StatusBadge status={pool.status} />
      {pool.frozen && (
        <Badge tone="warn" title="Outcomes are recorded and not learned">
          learning frozen
        </Badge>
      )}
      {pool.models.some((model) => model.startsWith("simulated-")) && <Badge tone="info">simulated models</Badge>}
      <span className="note">
        {pool.calibrator} · vote {pool.vote}
      </span>
    </div>
  );
}

function Figures({ pool }: { pool: Pool }) {
  const scores = pool.response_scores;
  const gain = scores ? scores.calibrated.ece - scores.stated.ece : null;
  return (
    <dl className="stats">
      <Stat label="Decisions per minute" value={rate(pool.decisions_per_minute)} note={`${count(pool.decisions)} so far`} />
      <Stat
        label="Accuracy of decisions"
        value={percent(pool.decision_scores?.accuracy)}
        note={pool.decision_scores ? `latest ${count(pool.decision_scores.window)}` : "no outcome yet"}
      />
      <Stat
        label="Error promised"
        value={percent(pool.decision_scores ? 1 - pool.decision_scores.calibrated.mean : null)}
        note={pool.decision_scores ? `came: ${percent(1 - pool.decision_scores.accuracy)}` : kNone}
      />
      <Stat label="ECE stated" value={percent(scores?.stated.ece)} note="models' own words" title="Expected calibration error of what models state" />
      <Stat label="ECE calibrated" value={percent(scores?.calibrated.ece)} note={gain === null ? kNone : `${signed(100 * gain, 1)} points`} />
      <Stat label="Waiting for outcomes" value={count(pool.pending)} note={pool.early_outcomes > 0 ? `${count(pool.early_outcomes)} came early` : `${pool.models.length} models`} />
      <Stat label="Alarms" value={count(pool.alarms)} note={pool.last_alarm ? <Time value={pool.last_alarm} relative /> : "none"} />
    </dl>
  );
}
