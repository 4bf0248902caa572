import { expect, test } from "@jest/globals";
import { csrfToken, sessionCookie, sessionToken } from "../../lib/access/session-cookie.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";

const TOKEN = { access_token: "ey.a.b", expires_at: "2026-01-31T09:30:00.000Z" };
const HTTPS = "https://sensorium.example";

test("where callers come by https the cookie is sent so alone, and no other host can set it", () => {
  expect(sessionCookie(TOKEN, HTTPS)).toBe(
    "__Host-sensorium_session=ey.a.b; Path=/; Expires=Sat, 31 Jan 2026 09:30:00 GMT; HttpOnly; SameSite=Strict; Secure",
  );
  for (const plain of [null, "http://intranet"]) expect(sessionCookie(TOKEN, plain)).not.toContain("Secure");
});

test("the token is found among other cookies, under the name that counts here", () => {
  const header = "theme=dark; sensorium_session=ey.a.b; x=1";
  expect(sessionToken(header, null)).toBe("ey.a.b");
  expect(sessionToken(header, HTTPS)).toBeNull();
  expect(sessionToken("__Host-sensorium_session=ey.c.d", HTTPS)).toBe("ey.c.d");
  for (const none of [undefined, "", "sensorium_session="]) expect(sessionToken(none, null)).toBeNull();
});

test("a CSRF token is of one session and one installation", () => {
  const box = (fill: number) => new SecretBox(Buffer.alloc(32, fill));
  const token = csrfToken(box(1), "jti_1");
  expect(token).toBe(csrfToken(box(1), "jti_1"));
  expect(new Set([token, csrfToken(box(1), "jti_2"), csrfToken(box(2), "jti_1")]).size).toBe(3);
});
