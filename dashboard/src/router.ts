// Pages by the address's fragment, "#/pools/demo?model=a": nothing of it is sent to the server, and no server has to know the pages.
import { useSyncExternalStore } from "react";

export interface Location {
  parts: string[]; // decoded: ["pools", "demo"]
  query: URLSearchParams;
}

export function parseHash(hash: string): Location {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  const parts = path.split("/").filter((part) => part !== "");
  return { parts: parts.map(decodePart), query: new URLSearchParams(query) };
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(parts: readonly string[], query: Record<string, string | undefined> = {}): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") search.set(key, value);
  }
  const text = search.toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text === "" ? "" : `?${text}`}`;
}

export function go(to: string, { replace = false } = {}): void {
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

function subscribe(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

export function useLocation(): Location {
  return parseHash(useSyncExternalStore(subscribe, () => location.hash));
}
