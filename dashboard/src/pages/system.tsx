// System: where the log stands, what the states' digests are, who has keys, what runs.
import { useState } from "react";
import type { Status } from "../api/types";
import { ApiError, getJson } from "../api/client";
import { useQuery } from "../api/use_query";
import { Badge, Foreign, Section, Stat, Time } from "../components/bits";
import { DataTable, type Column } from "../components/data_table";
import { Loaded } from "../components/states";
import { bytes, count, duration } from "../lib/format";
import { useSession } from "../session";

type PoolRow = Status["pools"][number];
type KeyRow = Status["keys"][number];

const kKeyColumns: Column<KeyRow>[] = [
  { name: "Name", value: (k) => k.name, show: (k) => <Foreign text={k.name} /> },
  { name: "Id", title: "The public part", value: (k) => k.id, show: (k) => <code>{k.id}</code> },
  { name: "Scopes", value: (k) => k.scopes },
  { name: "Tenant", value: (k) => k.tenant, show: (k) => (k.tenant === "" ? "all" : k.tenant) },
  { name: "Weight", number: true, title: "Of its feedback", value: (k) => k.weight },
  { name: "Made", value: (k) => k.created, show: (k) => <Time value={k.created} /> },
  { name: "State", value: (k) => (k.revoked ? "revoked" : "valid"), show: (k) => <Badge tone={k.revoked ? "warn" : "good"}>{k.revoked ? "revoked" : "valid"}</Badge> },
];

export function SystemPage() {
  const session = useSession();
  const query = useQuery<Status>("/status", { pool: "*", pace: 2000, every: 5000 });
  return (
    <>
      <div className="page-head">
        <h1>System</h1>
      </div>
      <Loaded query={query} what="the system">
        {(status) => (
          <>
            <dl className="stats">
              <Stat label="Version" value={status.version} note={`up ${duration((Date.parse(status.now) - Date.parse(status.started)) / 1000)}`} />
              <Stat label="Store" value={bytes(status.stored_bytes)} note={<Foreign text={status.store} />} />
              <Stat label="Durability" value={status.durability} note={status.durability === "disk" ? "survives power loss" : "survives kill -9"} />
              <Stat label="Events written" value={count(status.appended)} note={`in ${count(status.commits)} commits since the start`} />
              <Stat label="Waiting for the log" value={count(status.waiting)} />
              <Stat label="Answers kept as" value={status.answers} />
              <Stat label="Transport" value={status.tls ? "TLS" : "plain HTTP"} note={`${count(status.streams)} live ${status.streams === 1 ? "reader" : "readers"}`} />
            </dl>
            <Section id="pools" title="Pools and their logs" aside={<span className="note">Equal digests mean equal states, to the bit.</span>}>
              <PoolTable status={status} />
            </Section>
            <Section id="replicas" title="Replicas">
              <p className="card">This server keeps its log in an embedded store and is the only one that writes it: a lease keeps others off the file. There are no replicas.</p>
            </Section>
            <Section id="keys" title="Keys" aside={<span className="note">Names only; secrets are not kept, nor shown.</span>}>
              {session.keyless ? (
                <div className="card">
                  <p>
                    No key is configured: only this machine is served. <code>margin keys create --name NAME --scope read</code> makes the first one.
                  </p>
                </div>
              ) : (
                <DataTable caption="Keys" columns={kKeyColumns} rows={status.keys} keyOf={(k) => k.id} {...(status.keys.length > 8 ? { filter: "Filter keys" } : {})} />
              )}
            </Section>
          </>
        )}
      </Loaded>
    </>
  );
}

// A digest is of a whole state, so it is made when somebody asks for it.
function PoolTable({ status }: { status: Status }) {
  const [digests, setDigests] = useState<{ at: Map<string, { offset: number; digest: string }>; said: string }>({ at: new Map(), said: "" });
  const compute = async () => {
    setDigests((now) => ({ ...now, said: "Computing …" }));
    try {
      const answer = await getJson<Status>("/status?digest=true");
      setDigests({ at: new Map(answer.pools.map((p) => [p.pool, { offset: p.offset, digest: p.digest ?? "" }])), said: "" });
    } catch (reason) {
      setDigests((now) => ({ ...now, said: reason instanceof ApiError ? reason.message : String(reason) }));
    }
  };
  const columns: Column<PoolRow>[] = [
    { name: "Pool", value: (p) => p.pool, show: (p) => <Foreign text={p.pool} /> },
    { name: "Log position", number: true, title: "Events that the state holds", value: (p) => p.offset, show: (p) => p.offset.toLocaleString("en-US") },
    { name: "State", value: (p) => (p.folding ? "folding" : "current"), show: (p) => (p.folding ? <Badge tone="info">folding again</Badge> : <Badge tone="good">current</Badge>) },
    {
      name: "Digest",
      value: (p) => digests.at.get(p.pool)?.digest ?? null,
      show: (p) => {
        const known = digests.at.get(p.pool);
        return known === undefined ? <span className="note">not computed</span> : <code title={`Of the state at ${known.offset} events`}>{known.digest} @ {known.offset}</code>;
      },
    },
  ];
  return (
    <>
      <DataTable caption="Pools and their logs" columns={columns} rows={status.pools} keyOf={(p) => p.pool} />
      <div className="row">
        <button type="button" onClick={() => void compute()}>
          Compute digests
        </button>
        <span className="note" role="status">
          {digests.said || "Reads every state once."}
        </span>
      </div>
    </>
  );
}
