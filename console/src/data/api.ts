import { bySession, createClient } from "../../../client/index.ts";

let csrfToken: string | undefined;

/** The service, as the signed-in person: the session is an httpOnly cookie, changes carry its CSRF token. */
export const api = createClient({
  url: location.origin,
  retries: 1,
  authorize: bySession({ csrfToken: () => csrfToken }),
});

/** What `GET /auth/session` and signing in tell. */
export function setCsrfToken(token: string | undefined): void {
  csrfToken = token;
}
