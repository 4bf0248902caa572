import { beforeAll, describe, expect, test } from "@jest/globals";
import { ahead } from "../support/ahead.ts";
import type { Answer } from "../support/http.ts";
import { makeCast } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const cast = await makeCast(server);

const at = (namespace: string, key: string) =>
  `/memories/keys/${encodeURIComponent(namespace)}/${encodeURIComponent(key)}`;
const put = async (namespace: string, key: string, body: object) =>
  ok(await cast.alice.put(at(namespace, key), body));

describe("a key", () => {
  test("creates, then replaces all fields but the scope", async () => {
    const made = await cast.alice.put(at("customers.acme", "terms"), { metadata: { days: 30 }, tags: ["a"] });
    expect(made).toMatchObject({
      status: 201,
      body: {
        ...{ namespace: "customers.acme", key: "terms", title: "terms", type: "semantic", scope: "agent" },
        ...{ content: '{"days":30}', metadata: { days: 30 }, tags: ["a"], agent_id: cast.alice.id },
      },
    });
    const again = await cast.alice.put(at("customers.acme", "terms"), {
      ...{ content: "Pays late", type: "episodic", metadata: { days: 60 } },
    });
    expect(again).toMatchObject({
      status: 200,
      body: { id: made.body.id, content: "Pays late", type: "episodic", metadata: { days: 60 }, tags: [] },
    });
    expect(ok(await cast.alice.get(at("customers.acme", "terms")))).toEqual(again.body);
    expect(ok(await cast.alice.get(`/memories/${made.body.id}`))).toMatchObject({ key: "terms" });
  });

  test("may hold what a path cannot: slashes, spaces, signs", async () => {
    const key = "https://a.example/ä b?c=d#e%2F";
    const { id } = await put("odd namespace", key, { content: "Odd" });
    expect(ok(await cast.alice.get(at("odd namespace", key)))).toMatchObject({ id, key });
  });

  test("is its agent's own", async () => {
    const { id } = await put("private", "k", { content: "Alice's" });
    await refused(cast.bob.get(at("private", "k")), "not_found");
    const other = ok(await cast.bob.put(at("private", "k"), { content: "Bob's" }));
    expect(other.id).not.toBe(id);
    expect(ok(await cast.alice.get(at("private", "k")))).toMatchObject({ id, content: "Alice's" });
  });

  test("makes one memory, however many create it at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => cast.alice.put(at("race", "one"), { content: `From ${n}` })),
    );
    expect(new Set(answers.map(({ body }: Answer) => body.id)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true);
    const { memories, total } = ok(await cast.alice.get("/memories?namespace=race"));
    expect(total).toBe(1);
    expect(memories[0].content).toBe(ok(await cast.alice.get(at("race", "one"))).content);
  });

  test("is free after the memory was forgotten, which can be restored until it is taken", async () => {
    const { id } = await put("gone", "k", { content: "First" });
    expect(ok(await cast.alice.del(at("gone", "k")))).toMatchObject({ memory_id: id, forgotten: true });
    await refused(cast.alice.get(at("gone", "k")), "not_found");
    await refused(cast.alice.del(at("gone", "k")), "not_found");
    ok(await cast.alice.post(`/memories/${id}/restore`, {}));
    expect(ok(await cast.alice.get(at("gone", "k")))).toMatchObject({ id });
    ok(await cast.alice.del(at("gone", "k")));
    const second = await cast.alice.put(at("gone", "k"), { content: "Second" });
    expect(second).toMatchObject({ status: 201, body: { content: "Second" } });
    expect(second.body.id).not.toBe(id);
  });

  test("is free after the memory has expired", async () => {
    const content = "Short";
    const { id } = await ahead(2000, (expires_at) => put("short", "k", { content, expires_at }));
    await settle(async () => (await cast.alice.get(at("short", "k"))).status === 404);
    expect((await put("short", "k", { content: "Longer" })).id).not.toBe(id);
  });

  test("obeys the rules of memories", async () => {
    await refused(
      cast.alice.put(at("rules", "k"), { project_id: "none-such" }),
      "validation_error",
      "project_id",
    );
    await refused(
      cast.alice.put(at("rules", "k"), { metadata: { text: "x".repeat(70_000) } }),
      "validation_error",
      "metadata",
    );
    await refused(cast.alice.put(at("a..b", "k"), {}), "validation_error", "namespace");
    await refused(cast.alice.get(at("rules", "k")), "not_found");
  });
});

describe("a namespace", () => {
  beforeAll(async () => {
    for (const [namespace, key] of [
      ["shop", "a"],
      ["shop.orders", "a"],
      ["shop.orders", "b"],
      ["shop.orders.open", "a"],
      ["shopping", "a"],
      ["shop-floor.tools", "a"],
    ] as const)
      await put(namespace, key, { content: `The wrench of ${namespace} ${key}` });
  });

  test("filters lists and searches, with those below it", async () => {
    const listed = ok(await cast.alice.get("/memories?namespace=shop&sort=title&order=asc")).memories;
    expect(listed.map(({ namespace }: { namespace: string }) => namespace).sort()).toEqual([
      ...["shop", "shop.orders", "shop.orders", "shop.orders.open"],
    ]);
    await settle(async () => {
      const asked = { query: "wrench", namespace: "shop.orders", limit: 50 };
      const { results } = ok(await cast.alice.post("/memories/search", asked));
      return results.length === 3;
    });
  });

  test("is listed, by page, prefix and depth", async () => {
    const list = async (query: string) => ok(await cast.alice.get(`/memories/namespaces?${query}`));
    expect(await list("prefix=shop")).toEqual({
      namespaces: ["shop", "shop.orders", "shop.orders.open"],
      next: null,
    });
    const flat = (await list("max_depth=1")).namespaces;
    expect(flat).toHaveLength(new Set(flat).size);
    expect(flat).toEqual(expect.arrayContaining(["customers", "shop", "shop-floor", "shopping"]));
    const paged: string[] = [];
    for (let query = "limit=2"; query; ) {
      const { namespaces, next } = await list(query);
      paged.push(...namespaces);
      query = next && `limit=2&after=${encodeURIComponent(next)}`;
    }
    expect(paged).toEqual((await list("limit=200")).namespaces);
    expect(ok(await cast.bob.get("/memories/namespaces")).namespaces).toEqual(["private"]);
  });
});
