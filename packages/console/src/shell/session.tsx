import { QueryClientProvider } from "@tanstack/react-query";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { isFinal } from "../../../client/errors.ts";
import { type AuthSessionResult, isApiError } from "../../../client/index.ts";
import { api, serverNow, setSession } from "../data/api.ts";
import { follow, RETRY_MS } from "../data/live.ts";
import { type Action, mayCall } from "../data/may.ts";
import { newCache } from "../data/queries.ts";
import { SessionContext, useSession } from "../data/session.ts";
import { forgetRecent, recentFor } from "../data/stored.ts";
import { useModal } from "../ui/dialog.tsx";
import { Failure } from "../ui/failure.tsx";
import { SignIn, signInJourney } from "./sign-in.tsx";

type State =
  | { session: AuthSessionResult; isOver: boolean }
  | { signedOut: "first" | "left"; failure?: unknown }
  | { error: unknown }
  | null;

/** Reads the session, and returns its state and functions to begin one and to read it again. */
function useSessionState() {
  const [state, setState] = useState<State>(null);

  const begin = useCallback((session: AuthSessionResult) => {
    setSession(session);
    recentFor(session.user.id);
    setState({ session, isOver: false });
  }, []);
  const load = useCallback(async () => {
    const journey = signInJourney();
    if (journey) return journey.catch((failure) => setState({ signedOut: "first", failure }));
    try {
      begin(await api.auth.session());
    } catch (error) {
      setState(isApiError(error, "authentication_failed") ? { signedOut: "first" } : { error });
    }
  }, [begin]);

  useEffect(() => void load(), [load]);
  // Opened during an outage: continue when it is over.
  const { error } = state && "error" in state ? state : {};
  useEffect(() => {
    if (error === undefined || isFinal(error)) return;
    const timer = setTimeout(load, RETRY_MS);
    return () => clearTimeout(timer);
  }, [error, load]);
  return { state, setState, begin, load };
}

/**
 * Shows the content to a signed-in person, else the sign-in page. An expired session puts that page in front of
 * everything, and after signing in again the person continues with what they had typed.
 */
export function Session({ children }: { children: ReactNode }) {
  const { state, setState, begin, load } = useSessionState();
  useRenewal(state && "session" in state ? state.session : null, begin);

  const value = useMemo(() => {
    if (!state || !("session" in state)) return null;
    const { role } = state.session.user;
    return {
      ...state.session,
      may: (action: Action) => mayCall(role, action),
      expired: () => setState((old) => (old && "session" in old ? { ...old, isOver: true } : old)),
      async signOut() {
        const { sign_out_url } = await api.auth.endSession();
        setSession(undefined);
        forgetRecent();
        setState({ signedOut: "left" });
        if (sign_out_url) location.assign(sign_out_url);
      },
    };
  }, [state, setState]);

  if (!state) return null;
  if (!("session" in state))
    return (
      <main className="sign-in">
        {"error" in state ? (
          <div className="sign-in-box">
            <Failure error={state.error} retry={load} />
          </div>
        ) : (
          <SignIn why={state.signedOut} failure={state.failure} onSignedIn={begin} />
        )}
      </main>
    );
  const { user } = state.session;
  const beginAgain = (session: AuthSessionResult) => {
    if (session.user.id !== user.id) forgetRecent();
    begin(session);
  };
  return (
    <SessionContext key={user.id} value={value}>
      <PersonData isOver={state.isOver}>{children}</PersonData>
      {state.isOver && <SignInAgain email={user.email} onSignedIn={beginAgain} />}
    </SessionContext>
  );
}

/** Has the cache of what one person has read, and the connection that keeps it up to date. Both end with the session. */
function PersonData({ isOver, children }: { isOver: boolean; children: ReactNode }) {
  const { expired } = useSession();
  const [cache] = useState(() => newCache(expired));
  useEffect(() => {
    const leave = follow(cache);
    return () => {
      leave();
      cache.clear();
    };
  }, [cache]);
  // After signing in again, everything shown is loaded again, as it may have failed.
  useEffect(() => {
    if (isOver) return () => void cache.refetchQueries({ type: "active" });
  }, [cache, isOver]);
  return <QueryClientProvider client={cache}>{children}</QueryClientProvider>;
}

/** Shown in front of everything open, including dialogs. */
function SignInAgain(props: { email: string; onSignedIn(session: AuthSessionResult): void }) {
  const element = useModal();
  const { onSignedIn } = props;
  // Back from another tab, the person may have signed in there.
  useEffect(() => {
    const look = () => void api.auth.session().then(onSignedIn, () => {});
    window.addEventListener("focus", look);
    return () => window.removeEventListener("focus", look);
  }, [onSignedIn]);
  return (
    <dialog
      ref={element}
      className="sign-in"
      aria-label="Sign in"
      onKeyDown={(event) => event.key === "Escape" && event.preventDefault()}
    >
      <SignIn why="expired" {...props} />
    </dialog>
  );
}

/** The fraction of a session's lifetime after which it is renewed. */
const RENEW_AFTER = 0.7;
const SOONEST_MS = 10_000;

function useRenewal(session: AuthSessionResult | null, begin: (session: AuthSessionResult) => void): void {
  useEffect(() => {
    if (!session) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const renewIn = (ms: number) => {
      timer = setTimeout(renew, ms);
    };
    const renew = async () => {
      try {
        begin(await api.auth.renewSession());
      } catch (error) {
        // If the session is over, the next request reports it; if the server did not answer, there is time to retry.
        const isRefused = isApiError(error) && error.status < 500;
        if (timer !== undefined && !isRefused) renewIn(SOONEST_MS);
      }
    };
    // By the server's clock: a wrong local one would renew too often or too late.
    const life = Date.parse(session.expires_at) - serverNow();
    renewIn(Math.max(SOONEST_MS, life * RENEW_AFTER));
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  }, [session, begin]);
}
