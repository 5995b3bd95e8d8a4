// useQuery: what a path answers, asked again when something happened to a pool, at most once in `pace` milliseconds. What was known
// before stays on the screen while it is asked again, and is known at once to the next page that asks.
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, getJson } from "./client";
import { live } from "./events";

export interface Query<T> {
  data: T | undefined;
  error: ApiError | undefined; // of the latest try; data may still be there from before
  reload: () => void;
}

interface Options {
  pool?: string; // asked again when something happens there; "*": anywhere
  types?: readonly string[]; // only on such events
  pace?: number;
  every?: number; // also asked again when so long nothing happened, in milliseconds
}

const kRemembered = 60;
const remembered = new Map<string, unknown>();

export function forgetAnswers(): void {
  remembered.clear();
}

function remember(path: string, data: unknown): void {
  remembered.delete(path);
  remembered.set(path, data);
  const oldest = remembered.keys().next().value;
  if (remembered.size > kRemembered && oldest !== undefined) remembered.delete(oldest);
}

export function useQuery<T>(path: string | null, { pool, types, pace = 1000, every = 15_000 }: Options = {}): Query<T> {
  const [state, setState] = useState<{ path: string | null; data: T | undefined; error: ApiError | undefined }>({
    path: null,
    data: undefined,
    error: undefined,
  });
  const reloader = useRef<() => void>(() => undefined);
  const wanted = types?.join(",");

  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    let asking = false;
    let again = false;
    let askedAt = -Infinity;
    let timer: ReturnType<typeof setTimeout> | undefined;

    const run = async () => {
      timer = undefined;
      if (asking) {
        again = true;
        return;
      }
      asking = true;
      askedAt = performance.now();
      try {
        const data = await getJson<T>(path, control.signal);
        remember(path, data);
        setState({ path, data, error: undefined });
      } catch (reason) {
        if (control.signal.aborted) return;
        const error = reason instanceof ApiError ? reason : new ApiError(0, "unreadable", String(reason));
        setState((before) => ({ path, data: before.path === path ? before.data : (remembered.get(path) as T | undefined), error }));
      }
      asking = false;
      if (again) {
        again = false;
        soon();
      }
    };
    const soon = () => {
      if (timer !== undefined || control.signal.aborted) return;
      // A page that nobody sees asks when it is looked at again.
      if (document.hidden) {
        again = true;
        return;
      }
      timer = setTimeout(() => void run(), Math.max(0, askedAt + pace - performance.now()));
    };
    reloader.current = () => void run();

    setState((before) => (before.path === path ? before : { path, data: remembered.get(path) as T | undefined, error: undefined }));
    void run();
    const types = wanted?.split(",");
    const unsubscribe = live.subscribe((event) => {
      if (pool !== undefined && (pool === "*" || event.pool === pool) && (types === undefined || types.includes(event.type))) soon();
    });
    const seen = () => {
      if (!document.hidden) soon();
    };
    document.addEventListener("visibilitychange", seen);
    const slow = setInterval(soon, every);
    return () => {
      control.abort();
      clearTimeout(timer);
      clearInterval(slow);
      unsubscribe();
      document.removeEventListener("visibilitychange", seen);
    };
  }, [path, pool, wanted, pace, every]);

  const reload = useCallback(() => reloader.current(), []);
  const current = state.path === path;
  return { data: current ? state.data : undefined, error: current ? state.error : undefined, reload };
}
