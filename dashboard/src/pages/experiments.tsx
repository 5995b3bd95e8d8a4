// Experiments: a log is sent, replayed on the server's side, and its report read here.
import { useEffect, useRef, useState } from "react";
import { ApiError, ask } from "../api/client";
import type { Experiment } from "../api/types";
import { useQuery } from "../api/use_query";
import { Badge, Foreign, Section, Time } from "../components/bits";
import { DataTable, type Column } from "../components/data_table";
import { Empty, Failure, Loaded, Loading } from "../components/states";
import { download } from "../lib/download";
import { bytes, decimal } from "../lib/format";
import { may, useSession } from "../session";
import { go, href, useLocation } from "../router";

interface List {
  log_bytes_max: number;
  experiments: Experiment[];
}

const kTones = { running: "info", done: "good", failed: "warn" } as const;

const kColumns: Column<Experiment>[] = [
  { name: "Log", value: (e) => e.name, show: (e) => (e.name === "" ? <code>{e.id.slice(-12)}</code> : <Foreign text={e.name} />) },
  { name: "Size", number: true, value: (e) => e.log_bytes, show: (e) => bytes(e.log_bytes) },
  { name: "Started", value: (e) => e.started, show: (e) => <Time value={e.started} /> },
  { name: "Status", value: (e) => e.status, show: (e) => <Badge tone={kTones[e.status]}>{e.status}</Badge> },
  { name: "Took", number: true, value: (e) => e.seconds, show: (e) => (e.status === "running" ? "–" : `${decimal(e.seconds, 1)} s`) },
  { name: "Said", value: (e) => e.message, show: (e) => <Foreign text={e.message} length={120} /> },
];

export function ExperimentsPage() {
  const session = useSession();
  if (!may(session, "admin")) {
    return (
      <>
        <h1>Experiments</h1>
        <Empty title="Experiments ask for a key with the scope admin">They take the server's processor time. The command line does the same: margin replay log.jsonl --report out</Empty>
      </>
    );
  }
  return <Experiments />;
}

function Experiments() {
  const list = useQuery<List>("/v1/experiments", { every: 1500 });
  const { parts } = useLocation();
  const chosen = list.data?.experiments.find((e) => e.id === parts[1]) ?? list.data?.experiments.find((e) => e.status === "done");
  return (
    <>
      <div className="page-head">
        <h1>Experiments</h1>
        <p className="sub">Would calibration help on a log of yours? It is replayed as if it had come live, in 20 orderings, with each method beside the raw confidences.</p>
      </div>
      <Loaded query={list} what="experiments">
        {(data) => (
          <>
            <Upload bytesMax={data.log_bytes_max} busy={data.experiments.some((e) => e.status === "running")} onStarted={list.reload} />
            {data.experiments.length > 0 && (
              <Section id="runs" title="Latest runs" aside={<span className="note">Kept in memory until the server stops.</span>}>
                <DataTable caption="Latest runs" columns={kColumns} rows={data.experiments} keyOf={(e) => e.id} onRow={(e) => go(href(["experiments", e.id]))} />
              </Section>
            )}
            {chosen?.status === "done" && <Report key={chosen.id} experiment={chosen} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Upload({ bytesMax, busy, onStarted }: { bytesMax: number; busy: boolean; onStarted: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [methods, setMethods] = useState("raw,margin,margin_adaptive");
  const [said, setSaid] = useState("");
  const [sending, setSending] = useState(false);
  const tooLarge = file !== null && file.size > bytesMax;
  const submit = async () => {
    if (file === null) return;
    setSending(true);
    setSaid("");
    const query = new URLSearchParams({ name: file.name, methods, format: /\.csv$/i.test(file.name) ? "csv" : "jsonl" });
    try {
      await ask(`/v1/experiments?${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
      onStarted();
    } catch (reason) {
      setSaid(reason instanceof ApiError ? reason.message : String(reason));
    }
    setSending(false);
  };
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div className="row end">
        <label>
          Log (JSON lines or CSV, at most {bytes(bytesMax)})
          <input type="file" accept=".jsonl,.ndjson,.json,.csv" onChange={(e) => setFile(e.target.files?.[0] ?? null)} />
        </label>
        <label>
          Methods
          <select value={methods} onChange={(e) => setMethods(e.target.value)}>
            <option value="raw,margin,margin_adaptive">raw, margin, margin_adaptive</option>
            <option value="raw,margin">raw, margin</option>
            <option value="all">all</option>
          </select>
        </label>
        <button type="submit" className="primary" disabled={file === null || tooLarge || busy || sending}>
          {busy ? "One runs already …" : sending ? "Sending …" : "Replay"}
        </button>
      </div>
      <p className="hint">
        One row per answer: <code>{'{"task":"q1","model":"a","confidence":0.95,"correct":0,"answer":"B"}'}</code>. It runs in a process of its own with bounded time and
        memory, and is deleted when it is done.
      </p>
      <p role="alert" className="error-text">
        {tooLarge ? `This file has ${bytes(file.size)}; the command line takes any size: margin replay ${file.name}` : said}
      </p>
    </form>
  );
}

// The report is the server's own HTML, with texts of the log escaped. Its style sheet is adopted, since none may be inline here, and what
// could run or load anything is left out once more.
function sanitized(html: string): { nodes: Node[]; style: string } {
  // Styles are taken out before parsing: the page's policy would complain of each.
  const styles = new Set<string>();
  const plain = html.replace(/<style[^>]*>([^<]*)<\/style>/gi, (_, sheet: string) => (styles.add(sheet), ""));
  const page = new DOMParser().parseFromString(plain, "text/html");
  for (const element of [...page.querySelectorAll("*")]) {
    if (/^(script|style|link|meta|iframe|object|embed|form|base|img|image|foreignobject|use)$/i.test(element.localName)) {
      element.remove();
      continue;
    }
    for (const { name, value } of [...element.attributes]) {
      if (/^on|^style$|srcdoc|^src/i.test(name) || (/href$/i.test(name) && !value.startsWith("#"))) element.removeAttribute(name);
    }
  }
  return { nodes: [...page.body.childNodes], style: [...styles].join("\n") };
}

function Report({ experiment }: { experiment: Experiment }) {
  const host = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<{ html: string } | { error: ApiError } | null>(null);
  useEffect(() => {
    let gone = false;
    ask(`/v1/experiments/${experiment.id}/report`)
      .then((response) => response.text())
      .then((html) => !gone && setState({ html }))
      .catch((reason: unknown) => !gone && setState({ error: reason instanceof ApiError ? reason : new ApiError(0, "", String(reason)) }));
    return () => {
      gone = true;
    };
  }, [experiment.id]);
  useEffect(() => {
    if (host.current === null || state === null || "error" in state) return;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: "open" });
    const { nodes, style } = sanitized(state.html);
    const sheet = new CSSStyleSheet();
    // What the report says of its page holds for the frame that it stands in.
    sheet.replaceSync(style.replace(/:root/g, ":host").replace(/\bbody\b/g, ":host"));
    root.adoptedStyleSheets = [sheet];
    root.replaceChildren(...nodes.map((node) => document.importNode(node, true)));
    const jump = (event: Event) => {
      const target = (event.target as Element).closest?.("a[href^='#']")?.getAttribute("href");
      if (target === null || target === undefined) return;
      event.preventDefault();
      root.getElementById(target.slice(1))?.scrollIntoView();
    };
    root.addEventListener("click", jump);
    return () => root.removeEventListener("click", jump);
  }, [state]);
  return (
    <Section
      id="report"
      title="Report"
      aside={
        state !== null &&
        "html" in state && (
          <button type="button" className="quiet" onClick={() => download(`${experiment.name || "experiment"}-report.html`, "text/html", state.html)}>
            Download
          </button>
        )
      }
    >
      {state === null && <Loading what="the report" />}
      {state !== null && "error" in state && <Failure error={state.error} />}
      <div ref={host} className="report" />
    </Section>
  );
}
