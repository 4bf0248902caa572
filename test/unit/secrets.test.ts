import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openSecretBox, SecretBox, SecretError } from "../../lib/crypto/secrets.ts";

const KEY = Buffer.alloc(32, 7);

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
    [
      "an altered byte",
      () => box.open(`${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BB" : "AA"}`, "here"),
    ],
    ["a text that is too short", () => box.open("v1.AAAA", "here")],
    ["an unknown version", () => box.open(sealed.replace("v1", "v2"), "here")],
  ])("does not open with %s", (_, open) => {
    expect(open).toThrow(SecretError);
  });

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

describe("the key of a data directory", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "sensorium-secrets-"));
  });
  afterEach(() => rm(directory, { recursive: true }));

  test("is made once, for its owner only, and is the same for all who start at once", async () => {
    const dataDir = join(directory, "not", "there");
    const boxes = await Promise.all(Array.from({ length: 8 }, () => openSecretBox(null, dataDir)));
    const sealed = (boxes[0] as SecretBox).seal("text", "place");
    for (const box of [...boxes, await openSecretBox(null, dataDir)]) {
      expect(box.open(sealed, "place")).toBe("text");
    }
    expect((await stat(join(dataDir, "secret.key"))).mode & 0o777).toBe(0o600);
  });

  test("a damaged file is refused and left as it is", async () => {
    const file = join(directory, "secret.key");
    await writeFile(file, "not a key");
    await expect(openSecretBox(null, directory)).rejects.toThrow("is not a key: expected 32 bytes in base64");
    expect(await readFile(file, "utf8")).toBe("not a key");
  });

  test("SECRET_KEY is used in its place", async () => {
    const box = await openSecretBox(KEY.toString("base64"), directory);
    expect(box.open(new SecretBox(KEY).seal("text", "p"), "p")).toBe("text");
    await expect(stat(join(directory, "secret.key"))).rejects.toThrow("ENOENT");
  });
});
