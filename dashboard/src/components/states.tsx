// What stands where data is not (yet): loading, empty, failed. Each says what to do.
import type { ReactNode } from "react";
import type { ApiError } from "../api/client";
import type { Query } from "../api/use_query";

export function Loading({ what }: { what: string }) {
  return (
    <p className="state" role="status">
      <span className="spinner" aria-hidden="true" /> Loading {what} …
    </p>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state empty">
      <strong>{title}</strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}

function advice(error: ApiError): string {
  if (error.status === 0) return "Is `margin serve` running, and is this machine allowed to reach it? It is tried again by itself.";
  if (error.status === 403) return "This key lacks the scope. Log out and use one that has it, or ask whoever makes keys (margin keys create).";
  if (error.status === 404) return "It may have expired, or belongs to another tenant.";
  if (error.status === 429) return "This key asks too often; it is tried again by itself.";
  if (error.status >= 500) return "The server's log says more. It is tried again by itself.";
  return "";
}

export function Failure({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <div className="state failure" role="alert">
      <strong>{error.message}</strong>
      <div>{advice(error)}</div>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

// The data, or what stands for it. Data that is there stays even when asking again failed.
export function Loaded<T>({ query, what, children }: { query: Query<T>; what: string; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error !== undefined) return <Failure error={query.error} onRetry={query.reload} />;
  return <Loading what={what} />;
}
