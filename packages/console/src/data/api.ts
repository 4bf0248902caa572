import { type AuthSessionResult, bySession, createClient } from "../../../client/index.ts";

type Session = Pick<AuthSessionResult, "user" | "csrf_token">;

const CSRF_HEADER = "X-CSRF-Token";
let session: Session | undefined;

/** The service as the signed-in person: the session is an httpOnly cookie, and changes carry its CSRF token. */
export const api = createClient({
  url: location.origin,
  retries: 1,
  authorize: bySession({ csrfToken: () => session?.csrf_token, header: CSRF_HEADER }),
  fetch: inSession(async (input, init) => {
    const answer = await fetch(input, init);
    const date = Date.parse(answer.headers.get("date") ?? "");
    if (!Number.isNaN(date)) ahead = date - Date.now();
    return answer;
  }),
});

/** How far the server's clock is ahead of this machine's, in milliseconds. */
let ahead = 0;

export const serverNow = () => Date.now() + ahead;

/** Sets the session from `GET /auth/session` or a sign-in. */
export function setSession(to: Session | undefined): void {
  session = to;
}

/**
 * Returns a `fetch` for a session shared by all windows of the browser: if another window has renewed the session, a
 * request refused with the old token is resent with the new one, and so is one that was refused because it was sent
 * before the person signed in again. If somebody else has signed in, the page reloads as theirs.
 */
export function inSession(send: typeof fetch): typeof fetch {
  return async (input, init) => {
    const before = session;
    const answer = await send(input, init);
    const headers = new Headers(init?.headers);
    const sent = headers.get(CSRF_HEADER);
    const resend = ({ csrf_token }: Session) => {
      if (sent !== null) headers.set(CSRF_HEADER, csrf_token);
      return send(input, { ...init, headers });
    };
    if (answer.status === 401 && before && session && session !== before) {
      return session.user.id === before.user.id ? resend(session) : answer;
    }
    if (answer.status !== 403 || sent === null) return answer;
    const now: Session | null = await api.auth.session().catch(() => null);
    if (!now || now.csrf_token === sent) return answer;
    if (now.user.id !== session?.user.id) {
      location.reload();
      return new Promise(() => {});
    }
    session = now;
    return resend(now);
  };
}
