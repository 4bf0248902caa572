import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import type { AuthSessionResult } from "../../../client/index.ts";
import { isApiError } from "../../../client/index.ts";
import { api, setCsrfToken } from "../data/api.ts";
import { forgetNames, nameIs } from "../data/names.ts";
import { Failure } from "../ui/failure.tsx";
import { SignIn } from "./sign-in.tsx";

interface SessionValue extends AuthSessionResult {
  isAdmin: boolean;
  /** The server said that the session is over. */
  expired(): void;
  signOut(): Promise<void>;
}

const SessionContext = createContext<SessionValue | null>(null);

/** Who is signed in. */
export function useSession(): SessionValue {
  const session = useContext(SessionContext);
  if (!session) throw new Error("useSession is for what stands inside <Session>");
  return session;
}

type State =
  | { session: AuthSessionResult }
  | { signedOut: "first" | "expired" | "left" }
  | { error: unknown }
  | null;

/** Shows what is inside to who is signed in, else the page to sign in on. */
export function Session({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(null);

  const begin = useCallback((session: AuthSessionResult) => {
    setCsrfToken(session.csrf_token);
    nameIs(session.user.id, session.user.display_name);
    setState({ session });
  }, []);
  const load = useCallback(async () => {
    try {
      begin(await api.auth.session());
    } catch (error) {
      setState(isApiError(error, "authentication_failed") ? { signedOut: "first" } : { error });
    }
  }, [begin]);

  useEffect(() => void load(), [load]);
  useRenewal(state && "session" in state ? state.session : null, begin);

  const value = useMemo(() => {
    if (!state || !("session" in state)) return null;
    return {
      ...state.session,
      isAdmin: state.session.user.role === "admin",
      expired: () => setState({ signedOut: "expired" }),
      async signOut() {
        await api.auth.endSession();
        setCsrfToken(undefined);
        forgetNames();
        setState({ signedOut: "left" });
      },
    };
  }, [state]);

  if (!state) return null;
  if ("error" in state) {
    return (
      <main className="sign-in">
        <div className="sign-in-box">
          <Failure error={state.error} retry={load} />
        </div>
      </main>
    );
  }
  if (!value) return <SignIn why={"signedOut" in state ? state.signedOut : "first"} onSignedIn={begin} />;
  return <SessionContext value={value}>{children}</SessionContext>;
}

/** The part of a session's life after which it is renewed. */
const RENEW_AT = 0.7;

function useRenewal(session: AuthSessionResult | null, begin: (session: AuthSessionResult) => void): void {
  useEffect(() => {
    if (!session) return;
    const life = Date.parse(session.expires_at) - Date.now();
    const timer = setTimeout(
      async () => {
        // When it fails, the next request finds the session over, and says so.
        const renewed = await api.auth.renewSession().catch(() => null);
        if (renewed) begin(renewed);
      },
      Math.max(10_000, life * RENEW_AT),
    );
    return () => clearTimeout(timer);
  }, [session, begin]);
}
