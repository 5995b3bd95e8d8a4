// One live connection for the whole page: /v1/events read by fetch, since an EventSource could send the key only in its address.
// Reconnects with growing pauses; who listens is told what happened, and may ask how old the news is.
import { apiUrl } from "./client";
import { EventReader } from "./event_reader";
import { authorization } from "./key";

export interface LiveEvent {
  type: string; // "decision", "outcome", "alarm", "joined", ...
  pool: string;
  fields: Record<string, unknown>;
}

export type Connection = "connecting" | "live" | "stale";

type Listener = (event: LiveEvent) => void;

const kPauseMin = 500;
const kPauseMax = 15_000;
// The server sends a line at least every 15 seconds.
const kSilenceMax = 40_000;

// The n-th pause, with up to a quarter of chance so that many readers do not come back at once.
export function pauseMs(attempt: number, chance: number): number {
  return Math.min(kPauseMax, kPauseMin * 2 ** attempt) * (1 + 0.25 * chance);
}

class Live {
  private listeners = new Set<Listener>();
  private watchers = new Set<() => void>();
  private connection: Connection = "connecting";
  private running: AbortController | null = null;
  private retryAt = 0;

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };
  state = (): Connection => this.connection;
  // When it tries again, as Date.now() counts; 0 while it does not wait.
  nextTry(): number {
    return this.retryAt;
  }

  start(): void {
    if (this.running === null) void this.run();
  }

  stop(): void {
    this.running?.abort();
    this.running = null;
    this.become("connecting");
  }

  private wake: (() => void) | null = null;
  retryNow(): void {
    this.wake?.();
  }

  private become(next: Connection): void {
    if (next === this.connection) return;
    this.connection = next;
    for (const changed of this.watchers) changed();
  }

  private async run(): Promise<void> {
    const own = (this.running = new AbortController());
    let attempt = 0;
    while (!own.signal.aborted) {
      const heard = await this.listen(own.signal);
      if (own.signal.aborted) return;
      attempt = heard ? 0 : attempt + 1;
      this.become("stale");
      const pause = pauseMs(attempt, Math.random());
      this.retryAt = Date.now() + pause;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pause);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = null;
      this.retryAt = 0;
    }
  }

  // Until the connection ends; whether anything was heard.
  private async listen(signal: AbortSignal): Promise<boolean> {
    const attempt = new AbortController();
    const give = () => attempt.abort();
    signal.addEventListener("abort", give);
    let heard = false;
    let silence = setTimeout(give, kSilenceMax);
    try {
      const response = await fetch(apiUrl("/v1/events"), {
        headers: { Accept: "text/event-stream", ...authorization() },
        cache: "no-store",
        credentials: "omit",
        signal: attempt.signal,
      });
      if (!response.ok || response.body === null) return false;
      const stream = response.body.getReader();
      const reader = new EventReader(({ type, data }) => this.publish(type, data));
      for (;;) {
        const { done, value } = await stream.read();
        if (done) return heard;
        clearTimeout(silence);
        silence = setTimeout(give, kSilenceMax);
        heard = true;
        this.become("live");
        reader.push(value);
      }
    } catch {
      return heard;
    } finally {
      clearTimeout(silence);
      signal.removeEventListener("abort", give);
    }
  }

  private publish(type: string, data: string): void {
    let fields: Record<string, unknown>;
    try {
      fields = JSON.parse(data) as Record<string, unknown>;
    } catch {
      return;
    }
    const event = { type, pool: String(fields.pool ?? ""), fields };
    for (const listener of this.listeners) listener(event);
  }
}

export const live = new Live();
