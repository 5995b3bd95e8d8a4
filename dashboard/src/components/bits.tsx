// Small pieces that every page uses: times, names, badges, figures, a button that copies.
import { useEffect, useState, type ReactNode } from "react";
import { ago, localTime, shortened, utcTime, visible } from "../lib/format";

export function Time({ value, relative = false }: { value: string; relative?: boolean }) {
  const date = new Date(value);
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!relative) return;
    const timer = setInterval(() => setNow(Date.now()), 5000);
    return () => clearInterval(timer);
  }, [relative]);
  const local = localTime(date, new Date(now));
  return (
    <time dateTime={value} title={`${utcTime(date)} (local ${local})`}>
      {relative ? ago(Math.max(now, Date.now()) - date.getTime()) : local}
    </time>
  );
}

// A name or an answer from outside: shown as text, with what it hides made visible, and in full on hover.
export function Foreign({ text, length = 40 }: { text: string; length?: number }) {
  const short = shortened(text, length);
  return (
    <bdi className="foreign" title={short === text ? undefined : visible(text)}>
      {short}
    </bdi>
  );
}

const kStatusHelp: Record<string, string> = {
  calibrated: "Probabilities are learned and hold lately",
  cold: "Too few outcomes yet: probabilities are little more than a prior",
  drifting: "Promises and outcomes differ lately by more than chance allows",
  stale: "No outcome for long: probabilities may be out of date",
};
const kStatusMark: Record<string, string> = { calibrated: "●", cold: "○", drifting: "▲", stale: "◆" };

export function StatusBadge({ status }: { status: string }) {
  return (
    <span className={`badge status-${status}`} title={kStatusHelp[status]}>
      <span aria-hidden="true">{kStatusMark[status] ?? "·"}</span> {status}
    </span>
  );
}

export function Badge({ tone = "plain", title, children }: { tone?: "plain" | "warn" | "good" | "info"; title?: string; children: ReactNode }) {
  return (
    <span className={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

export function Stat({ label, value, note, title }: { label: string; value: ReactNode; note?: ReactNode; title?: string }) {
  return (
    <div className="stat" title={title}>
      <dt>{label}</dt>
      <dd>
        <span className="value">{value}</span>
        {note !== undefined && <span className="note">{note}</span>}
      </dd>
    </div>
  );
}

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [said, setSaid] = useState<"" | "done" | "failed">("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      setSaid("done");
    } catch {
      setSaid("failed");
    }
    setTimeout(() => setSaid(""), 2000);
  };
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{said === "done" ? "Copied" : said === "failed" ? "Copying is not allowed here" : label}</span>
    </button>
  );
}

export function Section({ id, title, aside, children }: { id: string; title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section aria-labelledby={id} className="section">
      <header>
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  );
}
