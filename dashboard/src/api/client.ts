// Asks the server that this page came from. Every failure is an ApiError that says what to do.
import { authorization } from "./key";

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: the server was not reached
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

// The page lies at PREFIX/dashboard/, the interface at PREFIX/.
export function apiUrl(path: string): string {
  return new URL(`..${path}`, document.baseURI).toString();
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  try {
    const { error } = JSON.parse(text) as { error: { message: string; code: string } };
    return new ApiError(response.status, error.code, error.message);
  } catch {
    return new ApiError(response.status, "unreadable", `The server answered ${response.status} ${response.statusText}`);
  }
}

export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(apiUrl(path), { ...init, cache: "no-store", credentials: "omit", headers: { ...authorization(), ...init.headers } });
  } catch (reason) {
    if (reason instanceof DOMException && reason.name === "AbortError") throw reason;
    throw new ApiError(0, "unreachable", "The server cannot be reached");
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, signal ? { signal } : {})).json()) as T;
}

export async function postJson<T>(path: string, body: unknown): Promise<T> {
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return (await (await ask(path, init)).json()) as T;
}
