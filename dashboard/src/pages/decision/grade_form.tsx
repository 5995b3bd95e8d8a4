// GradeForm: says what was right. What that moved stands below it: each model's factor before and after.
import { useState } from "react";
import { ApiError, getJson, postJson } from "../../api/client";
import type { DecisionRecord, Factor, Receipt } from "../../api/types";
import { Foreign } from "../../components/bits";
import { decimal, signed } from "../../lib/format";
import { may, useSession } from "../../session";

const kOther = "\u0000other";

interface Moved {
  model: string;
  before: number;
  after: number;
}

type Said = { kind: "none" } | { kind: "asking" } | { kind: "failed"; message: string } | { kind: "done"; receipt: Receipt; moved: Moved[] };

function factorsOf(decision: DecisionRecord, factors: readonly Factor[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const response of decision.responses) {
    const row = factors.find((f) => f.model === response.model && f.channel === response.channel && f.segment === (decision.segment ?? "") && f.band === response.band);
    if (row !== undefined) found.set(response.model, row.factor);
  }
  return found;
}

export function GradeForm({ decision, onGraded }: { decision: DecisionRecord; onGraded: () => void }) {
  const session = useSession();
  const [choice, setChoice] = useState<string | null>(null);
  const [other, setOther] = useState("");
  const [said, setSaid] = useState<Said>({ kind: "none" });
  const known = (decision.outcomes ?? []).length > 0;
  const answers = decision.votes.map((vote) => vote.answer).filter((answer): answer is string => answer !== null);

  const submit = async () => {
    setSaid({ kind: "asking" });
    const path = `/v1/pools/${encodeURIComponent(decision.pool)}/factors`;
    try {
      const before = factorsOf(decision, (await getJson<{ factors: Factor[] }>(path)).factors);
      const receipt = await postJson<Receipt>("/v1/feedback", {
        decision_id: decision.decision_id,
        correct_answer: choice === kOther ? other : choice,
        ...(known ? { replace: true } : {}),
      });
      const after = factorsOf(decision, (await getJson<{ factors: Factor[] }>(path)).factors);
      const moved = receipt.updated.map((model) => ({ model, before: before.get(model) ?? NaN, after: after.get(model) ?? NaN }));
      setSaid({ kind: "done", receipt, moved });
      onGraded();
    } catch (reason) {
      setSaid({ kind: "failed", message: reason instanceof ApiError ? reason.message : String(reason) });
    }
  };

  if (!may(session, "feedback")) {
    return <p className="card note">To grade decisions, log in with a key that has the scope feedback.</p>;
  }
  if (decision.expired) return <p className="card note">The pool no longer remembers this decision, so an outcome would teach nothing.</p>;
  if (answers.length === 0) {
    return <p className="card note">The log does not keep answers, so they cannot be shown here; POST /v1/feedback takes outcomes by model.</p>;
  }
  const ready = choice !== null && (choice !== kOther || other.trim() !== "");
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void submit();
      }}
    >
      <fieldset>
        <legend>{known ? "It has an outcome; another one takes it back" : "Which answer is right?"}</legend>
        {answers.map((answer, i) => (
          <label key={i} className="choice">
            <input type="radio" name="answer" checked={choice === answer} onChange={() => setChoice(answer)} /> <Foreign text={answer} length={80} />
          </label>
        ))}
        <label className="choice">
          <input type="radio" name="answer" checked={choice === kOther} onChange={() => setChoice(kOther)} /> none of these, but:
          <input type="text" aria-label="The right answer" value={other} onFocus={() => setChoice(kOther)} onChange={(e) => setOther(e.target.value)} />
        </label>
      </fieldset>
      <button type="submit" className="primary" disabled={!ready || said.kind === "asking"}>
        {said.kind === "asking" ? "Teaching …" : known ? "Replace the outcome" : "Teach"}
      </button>
      <div role="status">
        {said.kind === "failed" && <p className="error-text">{said.message}</p>}
        {said.kind === "done" && <Result receipt={said.receipt} moved={said.moved} />}
      </div>
    </form>
  );
}

function Result({ receipt, moved }: { receipt: Receipt; moved: readonly Moved[] }) {
  return (
    <>
      <p>
        Feedback <strong>{receipt.status.replace(/_/g, " ")}</strong>
        {moved.length > 0 ? "; factors moved:" : "."}
      </p>
      {moved.length > 0 && (
        <table className="compact">
          <caption className="visually-hidden">How factors moved</caption>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col" className="number">
                Before
              </th>
              <th scope="col" className="number">
                After
              </th>
              <th scope="col" className="number">
                Change
              </th>
            </tr>
          </thead>
          <tbody>
            {moved.map(({ model, before, after }) => (
              <tr key={model}>
                <td>
                  <Foreign text={model} />
                </td>
                <td className="number">{decimal(before, 3)}</td>
                <td className="number">{decimal(after, 3)}</td>
                <td className="number">{signed(after - before, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
