import { beforeEach, describe, expect, test } from "@jest/globals";
import { SecretBox } from "../../lib/crypto/secrets.ts";
import { SigningKeyModel } from "../../services/identity/auth/auth.model.ts";
import { SigningKeys } from "../../services/identity/auth/signing-keys.ts";
import { Tokens } from "../../services/identity/auth/tokens.ts";
import { ownStore } from "../support/own-store.ts";

const MINUTE = 60_000;
const BEGIN = Date.UTC(2026, 0, 31, 9);
const secrets = new SecretBox(Buffer.alloc(32, 7));
const SUBJECT = { tenant_id: "tn_1", user_id: "usr_1", role: "member", token_version: 0 } as const;

let now: number;
const store = await ownStore();
const { system: rows } = store.collection(SigningKeyModel);
beforeEach(async () => {
  await rows.deleteMany({});
  now = BEGIN;
});

/** A node on the record, whose clock is the test's. */
async function newNode() {
  const keys = new SigningKeys({ ...store, now: () => now }, secrets);
  await keys.load();
  const tokens = new Tokens(keys, "here");
  return {
    keys,
    issue: () => tokens.issue(SUBJECT, now).access_token,
    isValid: (token: string) => tokens.read(token, now) !== null,
    published: () => keys.jwks(now).map(({ kid }) => kid),
    states: () => keys.states(now).map(({ state }) => state),
  };
}

describe("a new signing key", () => {
  test("is published, then signs, and the former one verifies until its last token has expired", async () => {
    const node = await newNode();
    const first = node.issue();
    await node.keys.rotate(false);
    expect(node.states()).toEqual(["signing", "published"]);
    expect(node.published()).toHaveLength(2);
    now += 9 * MINUTE;
    const last = node.issue();
    expect(node.keys.signer(now).jwk.kid).toBe(node.published()[0]);
    now += 2 * MINUTE;
    expect(node.states()).toEqual(["verifying", "signing"]);
    expect([first, last, node.issue()].map(node.isValid)).toEqual([true, true, true]);
    now += 57 * MINUTE;
    expect([first, last].map(node.isValid)).toEqual([false, true]);
    now += 10 * MINUTE;
    expect(node.states()).toEqual(["signing"]);
    await node.keys.retireEnded();
    expect(await rowsWithPrivateKey()).toBe(1);
  });

  test("is followed by other nodes", async () => {
    const [one, other] = [await newNode(), await newNode()];
    await one.keys.rotate(false);
    await other.keys.load();
    expect(other.published()).toEqual(one.published());
    now += 11 * MINUTE;
    expect(other.isValid(one.issue())).toBe(true);
  });

  test("waits for the one before it", async () => {
    const node = await newNode();
    await node.keys.rotate(false);
    await expect(node.keys.rotate(false)).rejects.toThrow(new Date(BEGIN + 10 * MINUTE).toISOString());
    expect(node.published()).toHaveLength(2);
  });

  test("at once ends the tokens of all others, one that was only published too", async () => {
    const node = await newNode();
    const first = node.issue();
    await node.keys.rotate(false);
    await node.keys.rotate(true);
    expect(node.states()).toEqual(["signing"]);
    expect(node.isValid(first)).toBe(false);
    expect(node.isValid(node.issue())).toBe(true);
    expect(await rowsWithPrivateKey()).toBe(1);
  });

  test("leaves the public keys of former ones for receipts, and a restart does not bring them back", async () => {
    const node = await newNode();
    const [former] = node.published();
    await node.keys.rotate(true);
    const again = await newNode();
    expect(again.published()).toEqual(node.published());
    const all = again.keys.jwks(now, { retired: true });
    expect(all.map(({ kid }) => kid)).toEqual([node.published()[0], former]);
    expect(JSON.stringify(all)).not.toContain('"d"');
  });
});

const rowsWithPrivateKey = () => rows.countDocuments({ sealed_private_key: { $exists: true } });
