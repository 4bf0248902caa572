import { describe, expect, test } from "@jest/globals";
import { apiKeyPrefix, hashApiKey, newApiKey } from "../../lib/access/api-key.ts";
import { fitsPassword, hashPassword, isPassword, newPassword } from "../../lib/crypto/password.ts";
import { SecretBox } from "../../lib/crypto/secrets.ts";

const secrets = new SecretBox(Buffer.alloc(32, 7));

describe("API keys", () => {
  test("have the form of the specification, are random, and follow from a seed", () => {
    const keys = Array.from({ length: 200 }, () => newApiKey(secrets));
    for (const key of keys) expect(key).toMatch(/^ak_live_[A-Za-z0-9]{32}$/);
    expect(new Set(keys).size).toBe(200);
    expect(newApiKey(secrets, "seed")).toBe(newApiKey(secrets, "seed"));
    expect(newApiKey(secrets, "seed")).not.toBe(newApiKey(secrets, "other"));
  });

  test("use every letter about equally often", () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i++) {
      for (const letter of newApiKey(secrets, `seed ${i}`).slice(8))
        counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
    const mean = (2000 * 32) / 62;
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - mean)).toBeLessThan(6 * Math.sqrt(mean));
  });

  test("are shown by their beginning and stored as a hash", () => {
    expect(apiKeyPrefix("ak_live_abcdefgh")).toBe("ak_live_abcd");
    expect(hashApiKey("ak_live_a")).not.toBe(hashApiKey("ak_live_b"));
    expect(hashApiKey("ak_live_a")).not.toContain("ak_live_a");
  });
});

describe("passwords", () => {
  test("only the right one fits, in whatever form its letters are composed", async () => {
    const hash = await hashPassword("pässword", secrets, "ada@example.com");
    expect(JSON.stringify(hash)).not.toContain("pässword");
    expect(await isPassword("pässword", hash)).toBe(true);
    expect(await isPassword("pa\u0308ssword", hash)).toBe(true);
    expect(await isPassword("passwort", hash)).toBe(false);
    expect(await isPassword("", hash)).toBe(false);
  });

  test("nothing fits where there is no user", async () =>
    expect(await isPassword("pässword", null)).toBe(false));

  test("the same password is stored differently for each e-mail, with its parameters", async () => {
    const [a, b] = await Promise.all(
      ["a@b.example", "b@b.example"].map((to) => hashPassword("same", secrets, to)),
    );
    if (!a || !b) throw new Error("two hashes");
    expect(a.tag).not.toBe(b.tag);
    expect(a).toMatchObject({ algorithm: "argon2id", memory: 19_456, passes: 2, parallelism: 1 });
  });

  test.each([
    { passes: 3 },
    { memory: 900_000 },
    { parallelism: 64 },
    { algorithm: "argon2d" },
    { salt: "short" },
    { salt: 5 },
    { tag: "" },
    { memory: undefined },
  ])("a hash with %o fits nothing, costs what ours do, and hides no other", async (other) => {
    const hash = await hashPassword("same", secrets, "a@b.example");
    const given = { ...hash, ...other } as typeof hash;
    expect(await isPassword("same", given)).toBe(false);
    expect(await fitsPassword("same", [given, hash])).toEqual([false, true]);
  });

  test("all accounts of an e-mail are compared with by one computation: they share a salt", async () => {
    const [a, b, other] = await Promise.all([
      hashPassword("one", secrets, "Ada@example.com"),
      hashPassword("two", secrets, "ada@example.com"),
      hashPassword("one", secrets, "bob@example.com"),
    ]);
    expect([a.salt === b.salt, a.salt === other.salt]).toEqual([true, false]);
    expect(await fitsPassword("one", [a, b, a, other])).toEqual([true, false, true, true]);
    expect(await fitsPassword("one", [])).toEqual([]);
  });

  test("a new one is long and random, or follows from a seed", () => {
    expect(newPassword(secrets)).toHaveLength(24);
    expect(newPassword(secrets)).not.toBe(newPassword(secrets));
    expect(newPassword(secrets, "seed")).toBe(newPassword(secrets, "seed"));
  });
});
