// Cells that every list of decisions has.
import type { DecisionSummary } from "../api/types";
import { percent } from "../lib/format";
import { href } from "../router";
import { Badge, Foreign, StatusBadge, Time } from "./bits";
import type { Column } from "./data_table";

type D = DecisionSummary;

export function OutcomeBadge({ outcome }: { outcome: number | null | undefined }) {
  if (outcome === null || outcome === undefined) return <span className="note">open</span>;
  if (outcome >= 0.995) return <Badge tone="good">✓ right</Badge>;
  if (outcome <= 0.005) return <Badge tone="warn">✗ wrong</Badge>;
  return <Badge>{percent(outcome, 0)} right</Badge>;
}

export const kTime: Column<D> = { name: "Time", value: (d) => d.time, show: (d) => <Time value={d.time} /> };
export const kTask: Column<D> = {
  name: "Task",
  value: (d) => d.task_id,
  show: (d) => (
    <a href={href(["decisions", d.decision_id])} onClick={(e) => e.stopPropagation()}>
      {d.task_id === "" ? <code>{d.decision_id.slice(-12)}</code> : <Foreign text={d.task_id} length={36} />}
    </a>
  ),
};
export const kAnswer: Column<D> = {
  name: "Answer",
  value: (d) => d.answer ?? "",
  show: (d) => (d.abstained ? <Badge>abstained</Badge> : d.answer === null ? <span className="note">not kept</span> : <Foreign text={d.answer} length={48} />),
};
export const kModel: Column<D> = { name: "Led by", value: (d) => d.model ?? "", show: (d) => (d.model === null ? "–" : <Foreign text={d.model} length={28} />) };
export const kChance: Column<D> = { name: "p correct", number: true, title: "That the answer is right, as promised", value: (d) => d.p_correct, show: (d) => percent(d.p_correct) };
export const kStatus: Column<D> = { name: "Status", title: "What that probability is worth", value: (d) => d.status, show: (d) => <StatusBadge status={d.status} /> };
export const kOutcome: Column<D> = { name: "Outcome", value: (d) => d.outcome ?? null, show: (d) => <OutcomeBadge outcome={d.outcome} /> };
