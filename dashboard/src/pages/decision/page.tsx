// One decision explained: what each model said, what that was worth, how the answers came out, what would have changed it, what became of it.
import { apiUrl } from "../../api/client";
import type { DecisionRecord } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { Badge, CopyButton, Foreign, Section, Stat, StatusBadge, Time } from "../../components/bits";
import { OutcomeBadge } from "../../components/decision_cells";
import { Loaded } from "../../components/states";
import { curlOf } from "../../lib/curl";
import { kNone, percent, signed, visible, weight } from "../../lib/format";
import { href } from "../../router";
import { useSession } from "../../session";
import { Answers } from "./answers";
import { GradeForm } from "./grade_form";
import { Responses } from "./responses";

export function DecisionPage({ id }: { id: string }) {
  const query = useQuery<DecisionRecord>(`/v1/decisions/${encodeURIComponent(id)}`, { pool: "*", types: ["outcome", "reverted"], every: 60_000 });
  return (
    <Loaded query={query} what="the decision">
      {(decision) => <Explained decision={decision} onGraded={query.reload} />}
    </Loaded>
  );
}

export function outcomeOf(decision: DecisionRecord): number | null {
  const winners = decision.votes.find((vote) => vote.models.includes(decision.model ?? ""))?.models ?? [];
  return decision.outcomes?.find((o) => winners.includes(o.model))?.outcome ?? null;
}

function Explained({ decision, onGraded }: { decision: DecisionRecord; onGraded: () => void }) {
  const session = useSession();
  const request = () => curlOf({ url: apiUrl(`/v1/decisions/${decision.decision_id}`), keyed: !session.keyless });
  const grade = () =>
    curlOf({ url: apiUrl("/v1/feedback"), method: "POST", body: { decision_id: decision.decision_id, correct_answer: decision.answer ?? "..." }, keyed: !session.keyless });
  const votes = [...decision.votes].sort((a, b) => b.score - a.score);
  const runnerUp = votes[1];
  return (
    <>
      <div className="page-head">
        <div>
          <div className="crumb">
            <a href={href(["decisions"], { pool: decision.pool })}>Decisions</a> / <a href={href(["pools", decision.pool])}>{visible(decision.pool)}</a> /
          </div>
          <h1>{decision.task_id === "" ? <code>{decision.decision_id}</code> : <Foreign text={decision.task_id} length={120} />}</h1>
        </div>
        <div className="row">
          <StatusBadge status={decision.status} />
          <OutcomeBadge outcome={outcomeOf(decision)} />
          {decision.expired && <Badge title="Older than the pool remembers: its outcome teaches nothing any more">expired</Badge>}
        </div>
        <div className="row">
          <CopyButton label="Copy as curl" text={request} />
          <CopyButton label="Copy feedback as curl" text={grade} />
        </div>
      </div>
      <dl className="stats">
        <Stat label={decision.abstained ? "Abstained" : "Answer"} value={decision.answer === null ? kNone : <Foreign text={decision.answer} length={60} />} note={decision.model ? <>led by <Foreign text={decision.model} /></> : "nothing selected"} />
        <Stat label="Chance to be right" value={percent(decision.p_correct)} note={decision.interval ? `90% interval ${percent(decision.interval[0], 0)} – ${percent(decision.interval[1], 0)}` : kNone} />
        <Stat label="Rests on" value={weight(decision.effective_n)} note="decisions like this one" />
        <Stat label="Share of the vote" value={percent(decision.share)} note={`ahead by ${signed(decision.runner_up_gap, 2)}`} />
        <Stat label="Runner-up" value={runnerUp?.answer ? <Foreign text={runnerUp.answer} length={40} /> : kNone} note={runnerUp ? `${runnerUp.models.length} of ${decision.responses.length} models` : "everybody agrees"} />
        <Stat label="Made" value={<Time value={decision.time} />} note={`event ${decision.offset}`} />
      </dl>
      <div className="split">
        <div className="stack">
          <Answers decision={decision} />
          <Responses decision={decision} />
        </div>
        <div className="stack">
          <Section id="counterfactual" title="What would have changed it">
            <Counterfactual decision={decision} />
          </Section>
          <Section id="grade" title={outcomeOf(decision) === null ? "Grade it" : "Outcome"}>
            <GradeForm key={decision.decision_id} decision={decision} onGraded={onGraded} />
          </Section>
        </div>
      </div>
    </>
  );
}

function Counterfactual({ decision }: { decision: DecisionRecord }) {
  if (decision.model === null && !decision.abstained) return <p className="card">There was nothing to select: nobody gave an answer with a confidence.</p>;
  const without = decision.without ?? [];
  return (
    <div className="card">
      {without.length === 0 ? (
        <p>No model alone: without any one of them the same answer would have won.</p>
      ) : (
        <ul className="plain">
          {without.map((one) => (
            <li key={one.model}>
              Without <strong><Foreign text={one.model} /></strong>, {one.answer === null ? "another answer (or none)" : <><strong><Foreign text={one.answer} length={48} /></strong></>} would have won.
            </li>
          ))}
        </ul>
      )}
      {decision.grade_please.length > 0 && (
        <p className="note">
          The audit asks to grade{" "}
          {decision.grade_please.map((model, i) => (
            <span key={model}>
              {i > 0 && ", "}
              <Foreign text={model} />
            </span>
          ))}
          , whoever won.
        </p>
      )}
    </div>
  );
}
