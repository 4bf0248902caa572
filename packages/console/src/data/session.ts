import { createContext, useContext } from "react";
import type { AuthSessionResult } from "../../../client/index.ts";
import type { Action } from "./may.ts";

export interface SessionValue extends AuthSessionResult {
  /** Whether the person may call it: actions that their role never allows are not offered. */
  may(action: Action): boolean;
  /** Called when the server reports that the session is over. */
  expired(): void;
  signOut(): Promise<void>;
}

export const SessionContext = createContext<SessionValue | null>(null);

export function useSession(): SessionValue {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession must be used inside <Session>");
  return session;
}
