// What each model said, what it was worth, and the weight it had: stated, calibrated, weight.
import type { DecisionRecord } from "../../api/types";
import { Badge, Foreign } from "../../components/bits";
import { DataTable, type Column } from "../../components/data_table";
import { OutcomeBadge } from "../../components/decision_cells";
import { kSeries } from "../../lib/color";
import { decimal, kNone, weight } from "../../lib/format";

type Response = DecisionRecord["responses"][number];

export function Responses({ decision }: { decision: DecisionRecord }) {
  const answerOf = (r: Response) => decision.votes.find((vote) => vote.models.includes(r.model))?.answer ?? null;
  const outcomeOf = (r: Response) => decision.outcomes?.find((o) => o.model === r.model && o.channel === r.channel)?.outcome ?? null;
  const several = new Set(decision.responses.map((r) => r.channel)).size > 1;
  const columns: Column<Response>[] = [
    {
      name: "Model",
      value: (r) => r.model,
      show: (r) => (
        <>
          <svg width={10} height={10} aria-hidden="true" className="swatch">
            <rect width={10} height={10} rx={2} style={{ fill: kSeries[decision.responses.indexOf(r) % kSeries.length] ?? "#6b7280" }} />
          </svg>
          <Foreign text={r.model} />
          {several && <span className="note"> {r.channel}</span>}
        </>
      ),
    },
    { name: "Answer", value: (r) => answerOf(r), show: (r) => (r.abstained ? <Badge>abstained</Badge> : answerOf(r) === null ? kNone : <Foreign text={answerOf(r) ?? ""} />) },
    { name: "Stated", number: true, value: (r) => r.stated, show: (r) => decimal(r.stated) },
    { name: "→ factor", number: true, title: "What the stated confidence is multiplied by", value: (r) => r.factor ?? null, show: (r) => (r.factor === undefined ? kNone : `× ${decimal(r.factor)}`) },
    { name: "→ calibrated", number: true, value: (r) => r.calibrated, show: (r) => <Moved stated={r.stated} calibrated={r.calibrated} /> },
    { name: "→ weight", number: true, title: "What it added to its answer's total", value: (r) => r.weight ?? null, show: (r) => <WeightCell response={r} /> },
    { name: "n", number: true, title: "Observations behind this model and band", value: (r) => r.n ?? null, show: (r) => weight(r.n) },
    { name: "Outcome", value: (r) => outcomeOf(r), show: (r) => <OutcomeBadge outcome={outcomeOf(r)} /> },
  ];
  return <DataTable caption="What each model said and what it was worth" hiddenCaption={false} columns={columns} rows={decision.responses} keyOf={(r) => `${r.model} ${r.channel}`} sortedBy="-→ weight" />;
}

// The stated confidence as a tick, the calibrated one as a bar beside its number.
function Moved({ stated, calibrated }: { stated: number | null; calibrated: number | null }) {
  if (stated === null || calibrated === null) return <>{kNone}</>;
  return (
    <span className="moved">
      <svg width={64} height={12} aria-hidden="true">
        <rect className="track" width={64} height={6} y={3} rx={3} />
        <rect className="calibrated" stroke="none" width={64 * calibrated} height={6} y={3} rx={3} />
        <rect className="stated" stroke="none" x={Math.min(62, 64 * stated - 1)} width={2} height={12} />
      </svg>
      {decimal(calibrated)}
    </span>
  );
}

function WeightCell({ response }: { response: Response }) {
  const terms = Object.entries(response.weight_of ?? {});
  const title = terms.map(([name, value]) => `${name} ${decimal(value, 3)}`).join(", ");
  return <span title={title === "" ? undefined : title}>{decimal(response.weight, 3)}</span>;
}
