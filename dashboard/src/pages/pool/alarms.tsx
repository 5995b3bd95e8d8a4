// Alarms: what the watch reported, with its evidence. Nothing acts on them but people.
import type { Alarm, Pool } from "../../api/types";
import { useQuery } from "../../api/use_query";
import { Badge, Foreign, Time } from "../../components/bits";
import { DataTable, type Column } from "../../components/data_table";
import { Empty, Loaded } from "../../components/states";
import { count, decimal, percent } from "../../lib/format";

const kMeaning: Record<string, string> = {
  drift: "accuracy left its record",
  trust_then_defect: "sharp fall after a long clean record",
  low_participation: "answers far less often than the others",
  avoids_hard_tasks: "stays away where others fail",
  lag_exploitation: "worse where outcomes come late",
  collusion: "same wrong answers far more often than others",
  source_disagrees: "contradicts the other sources of outcomes",
};

const kColumns: Column<Alarm>[] = [
  { name: "Time", value: (a) => a.time, show: (a) => <Time value={a.time} /> },
  { name: "Kind", value: (a) => a.kind, show: (a) => <Badge tone="warn" title={kMeaning[a.kind] ?? ""}>{`▲ ${a.kind.replace(/_/g, " ")}`}</Badge> },
  {
    name: "Who",
    value: (a) => a.subject,
    show: (a) => (
      <>
        {a.subject === "" ? "the whole pool" : <Foreign text={a.subject} />}
        {a.other !== null && (
          <>
            {" and "}
            <Foreign text={a.other} />
          </>
        )}
      </>
    ),
  },
  { name: "What", value: (a) => kMeaning[a.kind] ?? "" },
  { name: "Observed", number: true, title: "Mean since the evidence began", value: (a) => a.observed, show: (a) => percent(a.observed) },
  { name: "Expected", number: true, title: "What the record, or the others, say", value: (a) => a.reference, show: (a) => percent(a.reference) },
  { name: "Over", number: true, title: "Observations since the evidence began", value: (a) => a.observations, show: (a) => count(a.observations) },
  { name: "Evidence", number: true, title: "Logarithm of the likelihood ratio, and the threshold it passed", value: (a) => a.evidence, show: (a) => `${decimal(a.evidence, 1)} > ${decimal(a.threshold, 1)}` },
  { name: "Times", number: true, value: (a) => a.times },
];

export function AlarmsTab({ pool }: { pool: string; summary: Pool }) {
  const query = useQuery<{ alarms: Alarm[] }>(`/v1/pools/${encodeURIComponent(pool)}/alarms`, { pool, types: ["alarm", "outcome"] });
  return (
    <Loaded query={query} what="alarms">
      {({ alarms }) =>
        alarms.length === 0 ? (
          <Empty title="No alarm">Drift, gaming and disagreeing sources are reported here with their evidence. Nothing acts on them but people.</Empty>
        ) : (
          <DataTable caption="Alarms" columns={kColumns} rows={alarms} keyOf={(a, i) => `${a.kind}${a.time}${a.subject}${i}`} filter="Filter alarms" sortedBy="-Time" />
        )
      }
    </Loaded>
  );
}
