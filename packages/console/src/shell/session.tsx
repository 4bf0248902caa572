import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { AuthSessionResult } from "../../../client/index.ts";
import { isApiError } from "../../../client/index.ts";
import { api, serverNow, setSession } from "../data/api.ts";
import { forgetKept } from "../data/kept.ts";
import { type Action, mayCall } from "../data/may.ts";
import { forgetNames, nameIs } from "../data/names.ts";
import { Failure } from "../ui/failure.tsx";
import { SignIn } from "./sign-in.tsx";

interface SessionValue extends AuthSessionResult {
  /** Whether they may call it: what their role can never do is not offered. */
  may(action: Action): boolean;
  /** The server said that the session is over. */
  expired(): void;
  /** How often it was over since, and was begun again: what could not be loaded meanwhile can be then. */
  returns: number;
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
  | { session: AuthSessionResult; isOver: boolean; returns: number }
  | { signedOut: "first" | "left" }
  | { error: unknown }
  | null;

/**
 * Shows what is inside to who is signed in, else the page to sign in on. Where a session is over that page stands
 * before all else, and whoever signs in again goes on where they were, with what they had typed.
 */
export function Session({ children }: { children: ReactNode }) {
  const [state, setState] = useState<State>(null);

  const begin = useCallback((session: AuthSessionResult) => {
    setSession(session);
    nameIs(session.user.id, session.user.display_name);
    setState((old) => {
      const before = old && "session" in old ? old : { isOver: false, returns: 0 };
      return { session, isOver: false, returns: before.returns + (before.isOver ? 1 : 0) };
    });
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
    const { role } = state.session.user;
    return {
      ...state.session,
      may: (action: Action) => mayCall(role, action),
      returns: state.returns,
      expired: () => setState((old) => (old && "session" in old ? { ...old, isOver: true } : old)),
      async signOut() {
        await api.auth.endSession();
        setSession(undefined);
        forget();
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
  if ("signedOut" in state) {
    return (
      <main className="sign-in">
        <SignIn why={state.signedOut} onSignedIn={begin} />
      </main>
    );
  }
  const { user } = state.session;
  const beginAgain = (session: AuthSessionResult) => {
    if (session.user.id !== user.id) forget();
    begin(session);
  };
  return (
    <SessionContext key={user.id} value={value}>
      {children}
      {state.isOver && <SignInAgain email={user.email} onSignedIn={beginAgain} />}
    </SessionContext>
  );
}

/** What one person was shown is not the next one's. */
function forget(): void {
  forgetNames();
  forgetKept();
}

/** Before all that is open, dialogs too. */
function SignInAgain(props: { email: string; onSignedIn(session: AuthSessionResult): void }) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Who it was is known.
    dialog?.querySelector<HTMLElement>("[type=password]")?.focus();
    return () => dialog?.close();
  }, []);
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

/** The part of a session's life after which it is renewed. */
const RENEW_AT = 0.7;
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
        // Where it is over, the next request says so; where nobody answered, there is time to ask again.
        const isRefused = isApiError(error) && error.status < 500;
        if (timer !== undefined && !isRefused) renewIn(SOONEST_MS);
      }
    };
    // By the server's clock: this machine's may be wrong, and would renew it again and again, or too late.
    const life = Date.parse(session.expires_at) - serverNow();
    renewIn(Math.max(SOONEST_MS, life * RENEW_AT));
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  }, [session, begin]);
}
