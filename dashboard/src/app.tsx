// The frame around every page: log-in, navigation, what is live and what is not.
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { ApiError, getJson } from "./api/client";
import { live } from "./api/events";
import { storeKey, storedKey } from "./api/key";
import type { Session } from "./api/types";
import { forgetAnswers } from "./api/use_query";
import { Failure, Loading } from "./components/states";
import mark from "./mark.svg";
import { DecisionPage } from "./pages/decision/page";
import { DecisionsPage } from "./pages/decisions";
import { ExperimentsPage } from "./pages/experiments";
import { LoginPage } from "./pages/login";
import { PoolPage } from "./pages/pool/page";
import { PoolsPage } from "./pages/pools";
import { QueuePage } from "./pages/queue";
import { SystemPage } from "./pages/system";
import { href, useLocation } from "./router";
import { SessionContext } from "./session";

type Gate = { kind: "asking" } | { kind: "login"; message: string } | { kind: "failed"; error: ApiError } | { kind: "in"; session: Session };

export function App() {
  const [gate, setGate] = useState<Gate>({ kind: "asking" });

  const enter = useCallback(async () => {
    setGate((now) => (now.kind === "failed" ? { kind: "asking" } : now));
    try {
      const session = await getJson<Session>("/v1/session");
      live.start();
      setGate({ kind: "in", session });
    } catch (reason) {
      const error = reason instanceof ApiError ? reason : new ApiError(0, "unreadable", String(reason));
      const refused = error.status === 401 || (error.status === 403 && error.code === "missing_scope");
      if (!refused) return setGate({ kind: "failed", error });
      const tried = storedKey() !== "";
      storeKey("");
      setGate({ kind: "login", message: !tried ? "" : error.status === 401 ? "This key is not valid here." : "This key lacks the scope read." });
    }
  }, []);
  useEffect(() => void enter(), [enter]);

  const leave = () => {
    storeKey("");
    live.stop();
    forgetAnswers();
    setGate({ kind: "login", message: "" });
  };

  if (gate.kind === "asking") return <Loading what="the dashboard" />;
  if (gate.kind === "failed") {
    return (
      <main>
        <h1>MARGIN</h1>
        <Failure error={gate.error} onRetry={() => void enter()} />
      </main>
    );
  }
  if (gate.kind === "login") return <LoginPage message={gate.message} onKey={(key) => (storeKey(key), enter())} />;
  return (
    <SessionContext.Provider value={gate.session}>
      <Frame session={gate.session} onLeave={leave} />
    </SessionContext.Provider>
  );
}

const kPages = [
  { part: "pools", title: "Pools" },
  { part: "decisions", title: "Decisions" },
  { part: "queue", title: "Grade first" },
  { part: "experiments", title: "Experiments" },
  { part: "system", title: "System" },
] as const;

function Frame({ session, onLeave }: { session: Session; onLeave: () => void }) {
  const { parts } = useLocation();
  const page = parts[0] ?? "pools";
  const main = useRef<HTMLElement>(null);
  const address = parts.join("/");
  const first = useRef(true);
  useEffect(() => {
    document.title = `${parts.slice(1, 2).join("") || (kPages.find((p) => p.part === page)?.title ?? "Pools")} · MARGIN`;
    // A new page begins at its top, for the eye and for the screen reader; not the very first one.
    if (first.current) first.current = false;
    else {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }, [address]);

  return (
    <>
      <a className="skip" href="#main" onClick={(e) => (e.preventDefault(), main.current?.focus())}>
        Skip to the content
      </a>
      <header className="top">
        <a className="brand" href={href(["pools"])}>
          <img src={mark} alt="" /> MARGIN
        </a>
        <nav aria-label="Pages">
          {kPages.map(({ part, title }) => (
            <a key={part} href={href([part])} aria-current={page === part ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div className="who">
          <LiveDot />
          {!session.keyless && (
            <>
              <span title={`Scopes: ${session.scopes.join(", ")}`}>{session.name}</span>
              <button type="button" className="quiet" onClick={onLeave}>
                Log out
              </button>
            </>
          )}
        </div>
      </header>
      {session.demo && (
        <section className="banner simulated" aria-label="About this server">
          <span>
            <strong>Simulated.</strong> This server runs its demonstration: the models, answers and outcomes of the pools <code>demo</code> and <code>quiz</code> are made up.
          </span>
        </section>
      )}
      <StaleBanner />
      <main id="main" ref={main} tabIndex={-1}>
        <Page parts={parts} />
      </main>
    </>
  );
}

function Page({ parts }: { parts: string[] }) {
  const [page = "pools", name, tab] = parts;
  if (page === "pools" && name !== undefined) return <PoolPage key={name} pool={name} tab={tab ?? ""} />;
  if (page === "decisions" && name !== undefined) return <DecisionPage key={name} id={name} />;
  if (page === "decisions") return <DecisionsPage />;
  if (page === "queue") return <QueuePage />;
  if (page === "experiments") return <ExperimentsPage />;
  if (page === "system") return <SystemPage />;
  return <PoolsPage />;
}

function LiveDot() {
  const state = useSyncExternalStore(live.watch, live.state);
  const words = { live: "live", connecting: "connecting", stale: "not live" }[state];
  return (
    <span title={state === "live" ? "Changes appear as they happen" : "Waiting for the server's live events"}>
      <span className={`dot ${state}`} aria-hidden="true" />
      {words}
    </span>
  );
}

function StaleBanner() {
  const state = useSyncExternalStore(live.watch, live.state);
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    if (state !== "stale") return;
    const tick = () => setSeconds(Math.max(0, Math.ceil((live.nextTry() - Date.now()) / 1000)));
    tick();
    const timer = setInterval(tick, 500);
    return () => clearInterval(timer);
  }, [state]);
  if (state !== "stale") return null;
  return (
    <section className="banner old" aria-label="Connection">
      <span role="alert">The connection to the server was lost: what you see may be out of date.</span>
      <span aria-hidden="true">{seconds > 0 ? `Next try in ${seconds} s.` : "Trying …"}</span>
      <button type="button" onClick={() => live.retryNow()}>
        Try now
      </button>
    </section>
  );
}
