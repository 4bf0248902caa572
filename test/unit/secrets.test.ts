import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  openSecretBox,
  type Sealed,
  SecretBox,
  SecretError,
  sealedByOthers,
} from "../../lib/crypto/secrets.ts";

const KEY = Buffer.alloc(32, 7);
const NEXT = Buffer.alloc(32, 8);
const settings = (DATA_DIR: string) => ({ SECRET_KEY: null, SECRET_KEY_FALLBACKS: [], DATA_DIR });

/** With another byte in the middle of its body. */
const altered = (sealed: string) =>
  sealed.replace(/\.(.{20})(.)/, (_, begin, at) => `.${begin}${at === "A" ? "B" : "A"}`) as Sealed;

describe("SecretBox", () => {
  const box = new SecretBox(KEY);

  test("opens what it sealed, and seals the same text differently each time", () => {
    const sealed = box.seal("whsec_ä€", "agents/ag_1");
    expect(sealed).not.toContain("whsec");
    expect(box.seal("whsec_ä€", "agents/ag_1")).not.toBe(sealed);
    expect(box.open(sealed, "agents/ag_1")).toBe("whsec_ä€");
  });

  const sealed = box.seal("text", "here");
  test.each([
    ["another place", () => box.open(sealed, "there")],
    ["another key", () => new SecretBox(Buffer.alloc(32, 8)).open(sealed, "here")],
    ["an altered byte", () => box.open(altered(sealed), "here")],
    ["a text that is too short", () => box.open("v1.AAAA" as Sealed, "here")],
    ["an unknown version", () => box.open(sealed.replace("v1", "v2") as Sealed, "here")],
  ])("does not open with %s", (_, open) => expect(open).toThrow(SecretError));

  test("secrets are random, or follow from the seed and the purpose", () => {
    expect(box.random(16, "a")).not.toEqual(box.random(16, "a"));
    expect(box.random(16, "a", "seed")).toEqual(box.random(16, "a", "seed"));
    expect(box.random(16, "b", "seed")).not.toEqual(box.random(16, "a", "seed"));
    expect(box.random(16, "a", "other")).not.toEqual(box.random(16, "a", "seed"));
    expect(new SecretBox(Buffer.alloc(32, 8)).random(16, "a", "seed")).not.toEqual(
      box.random(16, "a", "seed"),
    );
  });
});

describe("a box with several keys", () => {
  const [old, both] = [new SecretBox(KEY), new SecretBox([NEXT, KEY])];
  const [nextId, oldId] = both.keyIds as [string, string];
  /** As earlier versions sealed. */
  const unnamed = (text: string) => old.seal(text, "here").replace(/\.[^.]*$/, "") as Sealed;

  test("seals with the first and opens with all, and a text names its key", () => {
    const [before, after] = [old.seal("text", "here"), both.seal("text", "here")];
    expect([before.split(".")[2], after.split(".")[2]]).toEqual([oldId, nextId]);
    for (const sealed of [before, after, unnamed("text")]) expect(both.open(sealed, "here")).toBe("text");
    expect(() => old.open(after, "here")).toThrow(`(${nextId}) is not here`);
    expect(() => new SecretBox(NEXT).open(unnamed("text"), "here")).toThrow(SecretError);
  });

  test("finds what is not sealed with its active key", () => {
    const others = new RegExp(sealedByOthers(nextId).$regex);
    const of = (sealed: string) => others.test(sealed);
    expect([old.seal("a", "b"), unnamed("a"), both.seal("a", "b"), '{"v1.":1}'].map(of)).toEqual([
      ...[true, true, false, false],
    ]);
  });

  test("a digest of the former key counts while it is there, and a seed keeps its key", () => {
    const digest = old.digest(18, "mark", "text");
    expect(both.isDigest(digest, 18, "mark", "text")).toBe(true);
    expect(both.digests(18, "mark", "text")).toContain(digest);
    expect(new SecretBox(NEXT).isDigest(digest, 18, "mark", "text")).toBe(false);
    const parts = [
      "",
      ...[digest.slice(0, 1), digest.slice(0, -1), digest.slice(1)],
      `${digest}A`,
      digest + digest,
    ];
    for (const other of [...parts, both.digest(18, "other", "text")])
      expect(both.isDigest(other, 18, "mark", "text")).toBe(false);
    const seed = old.newSeed("request");
    expect(both.random(16, "p", seed)).toEqual(old.random(16, "p", seed));
    expect(both.random(16, "p", both.newSeed("request"))).not.toEqual(old.random(16, "p", seed));
  });
});

describe("the key of a data directory", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "sensorium-secrets-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("is made once, for its owner only, and is the same for all who start at once", async () => {
    const dataDir = join(directory, "not", "there");
    const boxes = await Promise.all(Array.from({ length: 8 }, () => openSecretBox(settings(dataDir))));
    const sealed = (boxes[0] as SecretBox).seal("text", "place");
    for (const box of [...boxes, await openSecretBox(settings(dataDir))])
      expect(box.open(sealed, "place")).toBe("text");
    expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).toBe(0o600);
  });

  test("a new one is put in front, for its owner only, and the former ones stay until they are dropped", async () => {
    const box = await openSecretBox(settings(directory));
    const sealed = box.seal("text", "place");
    const former = box.keyIds[0];
    await box.replaceKey();
    expect(box.keyIds).toEqual([expect.not.stringContaining(former), former]);
    expect((await stat(join(directory, "secret.key"))).mode & 0o777).toBe(0o600);
    const again = await openSecretBox(settings(directory));
    expect(again.keyIds).toEqual(box.keyIds);
    expect(again.open(sealed, "place")).toBe("text");
    await again.dropFallbacks([former]);
    const last = await openSecretBox(settings(directory));
    expect(last.keyIds).toEqual([box.keyIds[0]]);
    expect(() => last.open(sealed, "place")).toThrow(SecretError);
  });

  test("changes at once lose no key: each follows the one before", async () => {
    const box = await openSecretBox(settings(directory));
    const [first] = box.keyIds;
    await Promise.all([
      ...[box.replaceKey(), box.dropFallbacks([]), box.replaceKey(), box.dropFallbacks([first])],
    ]);
    expect(box.keyIds).toHaveLength(2);
    expect(box.keyIds).not.toContain(first);
    expect((await openSecretBox(settings(directory))).keyIds).toEqual(box.keyIds);
  });

  test("a damaged file is refused and left as it is", async () => {
    const file = join(directory, "secret.key");
    await writeFile(file, "not a key");
    await expect(openSecretBox(settings(directory))).rejects.toThrow(
      "is not a key: expected 32 bytes in base64",
    );
    expect(await readFile(file, "utf8")).toBe("not a key");
  });

  test("SECRET_KEY is used in its place", async () => {
    const box = await openSecretBox({ ...settings(directory), SECRET_KEY: KEY.toString("base64") });
    expect(box.open(new SecretBox(KEY).seal("text", "p"), "p")).toBe("text");
    await expect(stat(join(directory, "secret.key"))).rejects.toThrow("ENOENT");
    await expect(box.replaceKey()).rejects.toThrow(SecretError);
  });
});
