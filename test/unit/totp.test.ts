import { expect, test } from "@jest/globals";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import {
  hashRecoveryCode,
  newRecoveryCodes,
  newTotpSecret,
  plainCode,
  stepOfCode,
} from "../../services/identity/users/totp.ts";

const secrets = new SecretBox(Buffer.alloc(32, 1));
/** "12345678901234567890", the secret of RFC 6238, appendix B. */
const RFC_SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_234_567_890, "005924"],
  [20_000_000_000, "353130"],
])("at %d s the code is that of RFC 6238", (seconds, code) => {
  expect(stepOfCode(RFC_SECRET, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
});

test("a code counts one step early or late, and is known by its step", () => {
  const at = (step: number) => stepOfCode(RFC_SECRET, "287082", step * 30_000);
  expect([-1, 0, 1, 2, 3].map((step) => at(step + 0.5))).toEqual([null, 1, 1, 1, null]);
});

test.each(["", "28708", "2870820", "abcdef", "28708２"])("%j is no code", (code) => {
  expect(stepOfCode(RFC_SECRET, code, 59_000)).toBeNull();
});

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
