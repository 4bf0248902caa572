import { afterAll, describe, expect, test } from "@jest/globals";
import { TOTP } from "otpauth";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import {
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  plainCode,
  SecondFactors,
  stepOfCode,
} from "../../services/identity/users/totp.ts";
import { UserModel } from "../../services/identity/users/users.model.ts";
import { Users } from "../../services/identity/users/users.ts";
import { temporaryStore } from "../support/own-store.ts";

const secrets = new SecretBox(Buffer.alloc(32, 1));
/** "12345678901234567890", the secret of RFC 6238, appendix B. */
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_234_567_890, "005924"],
  [20_000_000_000, "353130"],
])("at %d s the code is that of RFC 6238", (seconds, code) =>
  expect(stepOfCode(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30)),
);

test("a code counts one step early or late, and is known by its step", () => {
  const at = (step: number) => stepOfCode(RFC_SECRET, "287082", step * 30_000);
  expect([-1, 0, 1, 2, 3].map((step) => at(step + 0.5))).toEqual([null, 1, 1, 1, null]);
});

test.each(["", "28708", "2870820", "abcdef", "28708２"])("%j is no code", (code) =>
  expect(stepOfCode(RFC_SECRET, code, 59_000)).toBeNull(),
);

test("secrets and recovery codes differ, except for the same seed", () => {
  expect(newTotpSecret(secrets)).toMatch(/^[A-Z2-7]{32}$/);
  expect(newTotpSecret(secrets)).not.toBe(newTotpSecret(secrets));
  expect(newTotpSecret(secrets, "seed")).toBe(newTotpSecret(secrets, "seed"));
  const codes = newRecoveryCodes(secrets);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
  expect(newRecoveryCodes(secrets, "seed")).toEqual(newRecoveryCodes(secrets, "seed"));
});

test("a code may be written with spaces, hyphens and capitals", () => {
  expect(plainCode(" 123 456 ")).toBe("123456");
  expect(hashRecoveryCode("ABCD efgh-IJKL mnop")).toBe(hashRecoveryCode("abcd-efgh-ijkl-mnop"));
});

const person = { tenant_id: "tn_1", user_id: "usr_1" };

const password = "correct horse battery staple";

let now = Date.UTC(2026, 0, 31);
const files = await temporaryStore();
const runtime = { secrets, store: { ...files.store, now: () => now } } as never;
const rows = files.store.collection(UserModel);
await new Users(runtime, rows).insert({
  ...{ _id: "usr_1", tenant_id: "tn_1", email: "a@b.example", password },
});
const factors = new SecondFactors(runtime, rows);
const { secret } = (await factors.begin({ ...person, password })) as { secret: string };
afterAll(() => files.remove());

describe("of a person", () => {
  const STEP_MS = 30_000;

  const codeAt = (timestamp: number) => new TOTP({ secret }).generate({ timestamp });
  const check = (code: string) => factors.check({ ...person, code });

  test("the code that sets it up signs nobody in, nor does one before it; the next one does, once", async () => {
    const first = codeAt(now);
    expect((await factors.confirm({ ...person, code: first })).recovery_codes).toHaveLength(10);
    expect(await check(first)).toEqual({ is: "wrong" });
    expect(await check(codeAt(now - STEP_MS))).toEqual({ is: "wrong" });
    now += STEP_MS;
    expect(await check(codeAt(now))).toEqual({ is: "right" });
    expect(await check(codeAt(now))).toEqual({ is: "wrong" });
  });

  test("each wrong code after five doubles the wait, to a quarter of an hour, until a right one", async () => {
    now += 2 * STEP_MS;
    expect(await check(codeAt(now))).toEqual({ is: "right" });
    for (let i = 0; i < 5; i++) expect(await check("no code")).toEqual({ is: "wrong" });
    for (const seconds of [30, 60, 120, 240, 480, 900, 900]) {
      const wait_ms = seconds * 1000;
      expect(await check(codeAt(now))).toEqual({ is: "later", wait_ms });
      now += wait_ms;
      expect(await check("no code")).toEqual({ is: "wrong" });
    }
    now += 900_000;
    expect(await check(codeAt(now))).toEqual({ is: "right" });
    expect(await check("no code")).toEqual({ is: "wrong" });
    expect(await check("no code")).toEqual({ is: "wrong" });
  });
});
