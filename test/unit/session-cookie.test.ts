import { expect, test } from "@jest/globals";
import jwt from "jsonwebtoken";
import { readConfig } from "../../config.ts";
import { csrfToken, sessionCookie, sessionToken } from "../../lib/access/session-cookie.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { authService } from "../../services/identity/auth/auth.service.ts";
import { temporaryStore } from "../support/own-store.ts";

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

test("a session is renewed for twelve hours from its sign-in, however often", async () => {
  const signedIn = Date.UTC(2026, 0, 31) / 1000;
  let now = signedIn * 1000;
  const files = await temporaryStore();
  try {
    const runtime = { secrets: new SecretBox(Buffer.alloc(32, 1)), config: readConfig({}), windows: null };
    const store = { ...files.store, now: () => now };
    const { actions, started } = authService({ ...runtime, store } as never) as never as {
      actions: { renew_session: { handler(ctx: object): Promise<unknown> } };
      started(): Promise<void>;
    };
    await started();
    const user = { id: "usr_1", tenant_id: "tn_1", role: "member", token_version: 1 };
    const rows: Record<string, object> = {
      "users.of_tokens": user,
      "tenants.get_many": { id: "tn_1", status: "active" },
    };
    const renew = async (auth_time: number) => {
      const caller = { kind: "user", user_id: "usr_1", session_id: "sid_1", auth_time };
      const meta: { caller: object; $responseHeaders?: { "Set-Cookie": string } } = { caller };
      await actions.renew_session.handler({ meta, call: async (action: string) => [rows[action]] });
      return jwt.decode(sessionToken(meta.$responseHeaders?.["Set-Cookie"], null) ?? "");
    };
    now += 12 * 3_600_000;
    expect(await renew(signedIn)).toMatchObject({ sid: "sid_1", auth_time: signedIn });
    now += 1000;
    await expect(renew(signedIn)).rejects.toMatchObject({ type: "authentication_failed" });
  } finally {
    await files.remove();
  }
});
