// The models of a pool: a table to sort and filter, and who wins votes.
import type { ModelRow, Pool } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { VoteBars } from "../../charts/vote_bars";
import { Badge, Foreign } from "../../components/bits";
import { DataTable, type Column } from "../../components/data_table";
import { Loaded } from "../../components/states";
import { count, decimal, percent, signed } from "../../lib/format";

const share = (a: number, b: number) => (b > 0 ? a / b : null);

const kColumns: Column<ModelRow>[] = [
  { name: "Model", value: (m) => m.model, show: (m) => <Foreign text={m.model} /> },
  { name: "State", value: (m) => (m.present ? "present" : "left"), show: (m) => <Badge tone={m.present ? "good" : "plain"}>{m.present ? "present" : "left"}</Badge> },
  { name: "Answers", number: true, title: "In the latest decisions", value: (m) => m.responses, show: (m) => count(m.responses) },
  { name: "Won", number: true, title: "Its answer was selected", value: (m) => share(m.won, m.responses), show: (m) => percent(share(m.won, m.responses)) },
  { name: "Led", number: true, title: "The decision names it", value: (m) => share(m.led, m.responses), show: (m) => percent(share(m.led, m.responses)) },
  { name: "Decisive", number: true, title: "Without it another answer would have won", value: (m) => m.decisive, show: (m) => count(m.decisive) },
  { name: "Outcomes", number: true, title: "Ever learned from or scored", value: (m) => m.scores?.outcomes ?? 0, show: (m) => count(m.scores?.outcomes ?? 0) },
  { name: "Right", number: true, title: "Over its latest 1,000 outcomes, as the rest", value: (m) => m.scores?.accuracy ?? null, show: (m) => percent(m.scores?.accuracy) },
  { name: "Says", number: true, title: "Mean stated confidence", value: (m) => m.scores?.stated.mean ?? null, show: (m) => percent(m.scores?.stated.mean) },
  {
    name: "Gap",
    number: true,
    title: "What it says minus how often it is right, in points",
    value: (m) => (m.scores ? m.scores.stated.mean - m.scores.accuracy : null),
    show: (m) => signed(m.scores ? 100 * (m.scores.stated.mean - m.scores.accuracy) : null, 1),
  },
  { name: "ECE stated", number: true, value: (m) => m.scores?.stated.ece ?? null, show: (m) => percent(m.scores?.stated.ece) },
  { name: "ECE calibrated", number: true, value: (m) => m.scores?.calibrated.ece ?? null, show: (m) => percent(m.scores?.calibrated.ece) },
  { name: "Brier", number: true, title: "Of the calibrated confidence", value: (m) => m.scores?.calibrated.brier ?? null, show: (m) => decimal(m.scores?.calibrated.brier, 3) },
];

export function ModelsTab({ pool }: { pool: string; summary: Pool }) {
  const query = useQuery<{ decisions: number; models: ModelRow[] }>(`/v1/pools/${encodeURIComponent(pool)}/models`, { pool });
  return (
    <Loaded query={query} what="models">
      {({ models }) => (
        <>
          <DataTable caption="Models" columns={kColumns} rows={models} keyOf={(m) => m.model} filter="Filter models" sortedBy="-Right" />
          <VoteBars pool={pool} models={models} />
        </>
      )}
    </Loaded>
  );
}
