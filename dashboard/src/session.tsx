// Who is logged in, for the pages that ask whether something may be done.
import { createContext, useContext } from "react";
import type { Session } from "./api/types";

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error("no session above this component");
  return session;
}

export function may(session: Session, scope: Session["scopes"][number]): boolean {
  return session.scopes.includes(scope);
}
