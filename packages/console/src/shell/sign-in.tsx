import { useEffect, useState } from "react";
import { type AuthMethodsResult, type AuthSessionResult, isApiError } from "../../../client/index.ts";
import { api } from "../data/api.ts";
import { filled } from "../data/format.ts";
import { Button } from "../ui/button.tsx";
import { Failure } from "../ui/failure.tsx";
import { text, useForm } from "../ui/form.tsx";
import { submitting, useFormTask } from "../ui/task.tsx";

const REFUSED =
  "The e-mail or password is incorrect. If your e-mail belongs to several organisations, enter one of them.";
const WRONG_CODE = "The code is wrong, has expired or was used before. Enter the current one.";

const WHY = {
  first: "Sign in to your organisation's console.",
  expired: "Your session has expired. Sign in to continue where you left off.",
  left: "You are signed out.",
};

interface Props {
  why: keyof typeof WHY;
  email?: string | undefined;
  /** Why a sign-in by the identity provider failed. */
  failure?: unknown;
  onSignedIn(session: AuthSessionResult): void;
}

/** The ways to sign in: a password, the organisation's identity provider, or both. */
export function SignIn({ why, email, failure, onSignedIn }: Props) {
  const [methods, setMethods] = useState<AuthMethodsResult>();
  useEffect(() => {
    // The form then shows what is wrong with the server.
    api.auth.methods().then(setMethods, () => setMethods(PASSWORD_ONLY));
  }, []);
  useEffect(() => {
    const before = document.title;
    document.title = "Sign in · Sensorium";
    return () => {
      document.title = before;
    };
  }, []);
  return (
    <div className="sign-in-box stack">
      <div className="sign-in-head">
        <Mark size={40} />
        <h1>Sensorium</h1>
        <p className="muted">{WHY[why]}</p>
      </div>
      {failure !== undefined && <Failure error={failure} />}
      {methods?.password && <PasswordForm email={email} onSignedIn={onSignedIn} />}
      {methods?.password && methods.oidc && <p className="sign-in-or">or</p>}
      {methods?.oidc && <ProviderLink name={methods.oidc.name} apart={why === "expired"} />}
      {methods?.password && (
        <p className="faint small sign-in-note">
          The initial admin password is in <code>credentials.json</code> in the data directory.
        </p>
      )}
    </div>
  );
}

/** @param props.apart in another tab: this one has what the person was writing */
function ProviderLink({ name, apart }: { name: string; apart: boolean }) {
  const to = apart ? "/" : location.pathname + location.search;
  return (
    <a className="button" href={startAddress(to)} {...(apart && { target: "_blank" })}>
      Sign in with {name}
    </a>
  );
}

const FIELDS = {
  email: text("E-mail", { type: "email", autoComplete: "username", required: true }),
  password: text("Password", { type: "password", autoComplete: "current-password", required: true }),
  code: text("Code", {
    autoComplete: "one-time-code",
    className: "code",
    required: true,
    autoFocus: true,
    minLength: 6,
    hint: "From your authenticator app, or a recovery code.",
  }),
  tenant_slug: text("Organisation", {
    hint: "Its short name. Required if your e-mail belongs to more than one.",
  }),
};

function PasswordForm({ email = "", onSignedIn }: Pick<Props, "email" | "onSignedIn">) {
  const form = useForm(FIELDS, { email });
  const [needsCode, setNeedsCode] = useState(false);
  const send = useFormTask(async () => {
    const { code, ...given } = form.values();
    try {
      onSignedIn(await api.auth.startSession(filled({ ...given, code: needsCode && code })));
    } catch (error) {
      if (!isApiError(error, "totp_required")) throw worded(error);
      setNeedsCode(true);
    }
  });
  return (
    <form className="stack" onSubmit={submitting(send.run)}>
      {form.show("email", { autoFocus: email === "" })}
      {form.show("password", { autoFocus: email !== "" })}
      {needsCode && form.show("code")}
      <details className="more-fields" open={form.drafts.tenant_slug !== ""}>
        <summary>Multiple organisations?</summary>
        {form.show("tenant_slug")}
      </details>
      {send.error !== undefined && <Failure error={send.error} />}
      <Button label="Sign in" kind="primary" type="submit" busy={send.busy} />
    </form>
  );
}

function worded(error: unknown): unknown {
  if (!isApiError(error, "authentication_failed")) return error;
  return new Error(error.details.reason === "code" ? WRONG_CODE : REFUSED);
}

const PASSWORD_ONLY: AuthMethodsResult = { password: true, oidc: null };

/** The product's mark: signals arrive from many sides and are felt in one place. */
export function Mark({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#4f46e5" />
      <g fill="none" stroke="#fff" strokeWidth="2.4" strokeLinecap="round">
        <path d="M7 9c6 0 6 7 11 7M7 23c6 0 6-7 11-7M7 16h11" />
      </g>
      <circle cx="22" cy="16" r="3.6" fill="#fff" />
    </svg>
  );
}

/** Begins a sign-in by the identity provider; the page can be opened by a link from elsewhere too. */
const START = "/sign-in/start";
/** The provider sends the browser back here. */
const CALLBACK = "/sign-in/callback";
const KEPT_PATH = "sensorium.sign-in.path";

/** Returns the address that begins a sign-in by the identity provider and ends at a path of the console. */
const startAddress = (path: string) => `${START}?to=${encodeURIComponent(path)}`;

let journey: Promise<never> | null | undefined;

/**
 * Continues a sign-in by the identity provider if the page's address belongs to one: then the browser leaves the page,
 * signed in or for the provider.
 *
 * @returns null for any other address; otherwise a promise that ends only with the error that ends the sign-in
 */
export function signInJourney(): Promise<never> | null {
  // Once: a code of the provider counts once.
  journey ??= stepAt(location.pathname);
  return journey;
}

function stepAt(path: string): Promise<never> | null {
  if (path === START) return leave();
  return path === CALLBACK ? arrive() : null;
}

async function leave(): Promise<never> {
  sessionStorage.setItem(KEPT_PATH, ownPath(new URLSearchParams(location.search).get("to")));
  return goTo((await api.auth.beginOidc()).url);
}

async function arrive(): Promise<never> {
  const query = location.search.slice(1);
  // Not to be seen, kept in the history or sent again.
  history.replaceState(null, "", CALLBACK);
  await api.auth.finishOidc({ query });
  return goTo(ownPath(sessionStorage.getItem(KEPT_PATH)));
}

function goTo(address: string): Promise<never> {
  location.replace(address);
  return new Promise(() => {});
}

/** Only paths of the console: a link from elsewhere must not lead to another site. */
function ownPath(path: string | null): string {
  const { origin, pathname, search } = new URL(path ?? "/", location.origin);
  const isOwn = origin === location.origin && !pathname.startsWith("/sign-in");
  return isOwn ? pathname + search : "/";
}
