import { beforeAll, describe, expect, test } from "@jest/globals";
import { ahead } from "../../../../test/support/ahead.ts";
import { makeCast } from "../../../../test/support/memories.ts";
import { settle } from "../../../../test/support/settle.ts";
import { makeWorld, ok, refused } from "../../../../test/support/tenancy.ts";
import { useShared } from "../../../../test/support/use.ts";

const server = await useShared("local");
const cast = await makeCast(server);
const stranger = await makeWorld(server, "stranger");

const at = (namespace: string, key: string) =>
  `/state/${encodeURIComponent(namespace)}/${encodeURIComponent(key)}`;
const put = async (namespace: string, key: string, body: object) =>
  ok(await cast.alice.put(at(namespace, key), body));
const keysOf = ({ entries }: { entries: { key: string }[] }) => entries.map(({ key }) => key);

/** Longer than what is stored in a row. */
const LONG = "ä long value\n".repeat(200_000);

describe("an entry", () => {
  test("is created, then replaced", async () => {
    const made = await cast.alice.put(at("threads.42", "c1"), { value: '{"step":1}', metadata: { step: 1 } });
    expect(made).toMatchObject({
      status: 201,
      body: { namespace: "threads.42", key: "c1", version: 1, size: 10, value: null, metadata: { step: 1 } },
    });
    const again = await cast.alice.put(at("threads.42", "c1"), { value: "" });
    expect(again).toMatchObject({ status: 200, body: { version: 2, size: 0, metadata: {} } });
    expect(ok(await cast.alice.get(at("threads.42", "c1")))).toEqual({ ...again.body, value: "" });
  });

  test("keeps a value of any length as it is", async () => {
    for (const value of [LONG, 'short\u2028\ud83d\ude00"\\', LONG.slice(1), "x".repeat(65_536)]) {
      const { size } = await put("values", "v", { value });
      expect(size).toBe(Buffer.byteLength(value));
      expect(ok(await cast.alice.get(at("values", "v"))).value).toBe(value);
    }
    // The connection may be cut off before its client has sent all and reads the answer.
    const tooLong = cast.alice.put(at("values", "v"), { value: "x".repeat(17_000_000) });
    expect((await tooLong.catch(() => null))?.status ?? 413).toBe(413);
    expect(ok(await cast.alice.get(at("values", "v"))).value).toHaveLength(65_536);
  });

  test("is its agent's own", async () => {
    await put("private", "k", { value: "Alice's" });
    await refused(cast.bob.get(at("private", "k")), "not_found");
    await refused(cast.bob.del(at("private", "k")), "not_found");
    expect(ok(await cast.bob.get("/state/private"))).toEqual({ entries: [], next: null });
    expect(ok(await cast.bob.put(at("private", "k"), { value: "Bob's" })).version).toBe(1);
    // Nor is it another tenant's, under the same names.
    await refused(stranger.agent.get(at("private", "k")), "not_found");
    expect(ok(await stranger.agent.get("/state/private")).entries).toEqual([]);
    expect(ok(await stranger.agent.del("/state/private"))).toEqual({ deleted: 0 });
    expect(ok(await cast.alice.get(at("private", "k"))).value).toBe("Alice's");
  });

  test("is written only at the version that the writer knows", async () => {
    const url = at("versions", "k");
    const first = await cast.alice.put(url, { value: "1", if_version: 0 });
    expect(first).toMatchObject({ status: 201, body: { version: 1 } });
    await refused(cast.alice.put(url, { value: "x", if_version: 0 }), "conflict");
    const writers = Array.from({ length: 20 }, (_, n) =>
      cast.alice.put(url, { value: `${n}`, if_version: 1 }),
    );
    const statuses = (await Promise.all(writers)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    expect(ok(await cast.alice.get(url)).version).toBe(2);
  });

  test("takes every unconditional write, however many there are at once", async () => {
    const writes = Array.from({ length: 20 }, (_, n) => put("race", "k", { value: `${n}` }));
    const versions = (await Promise.all(writes)).map(({ version }) => version);
    expect(versions.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test("is gone when deleted, and when it has expired", async () => {
    await put("gone", "k", { value: "v" });
    expect((await cast.alice.del(at("gone", "k"))).status).toBe(204);
    await refused(cast.alice.del(at("gone", "k")), "not_found");
    await ahead(2000, (expires_at) => put("gone", "k", { value: "v", expires_at }));
    await settle(async () => (await cast.alice.get(at("gone", "k"))).status === 404);
    expect(ok(await cast.alice.get("/state/gone")).entries).toEqual([]);
    expect(await cast.alice.put(at("gone", "k"), { value: "w", if_version: 0 })).toMatchObject({
      status: 201,
      body: { expires_at: null },
    });
  });

  test("is refused with a reason", async () => {
    await refused(cast.alice.put(at("rules", "k"), {}), "validation_failed", "value");
    await refused(cast.alice.put(at("a..b", "k"), { value: "v" }), "validation_error", "namespace");
    const metadata = { text: "x".repeat(70_000) };
    await refused(cast.alice.put(at("rules", "k"), { value: "v", metadata }), "validation_error", "metadata");
    await refused(cast.alice.get(at("rules", "k")), "not_found");
  });
});

test("several entries are saved at once, replace others, and have different keys", async () => {
  await put("batch", "b", { value: LONG });
  const entries = ["a", "b", "c"].map((key) => ({ key, value: `of ${key}`, metadata: { key } }));
  expect(ok(await cast.alice.post("/state/batch", { entries }))).toEqual({ saved: 3 });
  expect(ok(await cast.alice.get("/state/batch")).entries).toMatchObject([
    { key: "a", version: 1, value: "of a" },
    { key: "b", version: 2, value: "of b", metadata: { key: "b" } },
    { key: "c", version: 1, value: "of c" },
  ]);
  expect(ok(await cast.alice.get(at("batch", "b"))).value).toBe("of b");
  const twice = ["a", "a"].map((key) => ({ key, value: "v" }));
  await refused(cast.alice.post("/state/twice", { entries: twice }), "validation_error", "entries");
  expect(ok(await cast.alice.get("/state/twice")).entries).toEqual([]);
});

describe("a list", () => {
  const keys = ["a/1", "a/2", "a/3", "b/1", "z", "Ä", "\u{1f600}"];
  beforeAll(async () => {
    const entries = keys.map((key) => ({ key, value: `of ${key}` }));
    ok(await cast.alice.post("/state/listed", { entries }));
    await put("listed.below", "x", { value: "x" });
    await put("listing", "x", { value: "x" });
  });

  test("is in the order of the keys, both ways, within bounds", async () => {
    const list = async (query: string) => keysOf(ok(await cast.alice.get(`/state/listed?${query}`)));
    expect(await list("")).toEqual(keys);
    expect(await list("order=desc")).toEqual([...keys].reverse());
    expect(await list("prefix=a/")).toEqual(["a/1", "a/2", "a/3"]);
    expect(await list("prefix=a/&after=a/1&before=a/3")).toEqual(["a/2"]);
    expect(await list("prefix=a/&order=desc&limit=1")).toEqual(["a/3"]);
  });

  test("has pages", async () => {
    const read = async (order: string, bound: string) => {
      const found: string[] = [];
      for (let next: string | null = ""; next !== null; ) {
        const from = next && `&${bound}=${encodeURIComponent(next)}`;
        const page = ok(await cast.alice.get(`/state/listed?limit=2&order=${order}${from}`));
        found.push(...keysOf(page));
        next = page.next;
      }
      return found;
    };
    expect(await read("asc", "after")).toEqual(keys);
    expect(await read("desc", "before")).toEqual([...keys].reverse());
  });

  test("shows values but the long ones, and ends a page by their size", async () => {
    for (let n = 0; n < 12; n++) await put("long", `${n}`.padStart(2, "0"), { value: "x".repeat(65_000) });
    const first = ok(await cast.alice.get("/state/long"));
    expect(first.entries.length).toBeLessThan(12);
    const rest = ok(await cast.alice.get(`/state/long?after=${first.next}`));
    expect(keysOf(first).concat(keysOf(rest))).toHaveLength(12);
    await put("long", "00", { value: LONG });
    expect(ok(await cast.alice.get("/state/long?limit=1")).entries).toMatchObject([
      { value: null, size: Buffer.byteLength(LONG) },
    ]);
  });

  test("names the namespaces", async () => {
    const { namespaces } = ok(await cast.alice.get("/state?prefix=listed"));
    expect(namespaces).toEqual(["listed", "listed.below"]);
    expect(ok(await cast.bob.get("/state?prefix=listed"))).toEqual({ namespaces: [], next: null });
  });

  test("can be cleared, in all or from a prefix", async () => {
    expect(ok(await cast.alice.del("/state/listed?prefix=a/"))).toEqual({ deleted: 3 });
    expect(ok(await cast.alice.del("/state/listed"))).toEqual({ deleted: 4 });
    expect(ok(await cast.alice.get("/state/listed.below")).entries).toHaveLength(1);
  });
});

test("an erasure takes the state about a person, and that of an agent", async () => {
  await put("people", "ada", { value: LONG, metadata: { subject: "ada@example.com" } });
  await put("people", "bob", { value: "b", metadata: { subject: ["bob@example.com", 7] } });
  const erase = async (target: object) => ok(await cast.orgAdmin.post("/memories/erase", target)).erased;
  expect(await erase({ subject: "ada@example.com", dry_run: true })).toMatchObject({ state_entries: 1 });
  expect(await erase({ subject: "ada@example.com" })).toMatchObject({ state_entries: 1 });
  expect(keysOf(ok(await cast.alice.get("/state/people")))).toEqual(["bob"]);
  expect(await erase({ subject: "7" })).toMatchObject({ state_entries: 1 });
  await put("people", "eve", { value: "e" });
  const { state_entries } = await erase({ agent_id: cast.alice.id });
  expect(state_entries).toBeGreaterThan(0);
  expect(ok(await cast.alice.get("/state"))).toEqual({ namespaces: [], next: null });
});
