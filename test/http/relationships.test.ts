import { expect, test } from "@jest/globals";
import { firstAgent } from "../support/agents.ts";
import { type Api, api } from "../support/http.ts";
import { agentIn, remember as make } from "../support/memories.ts";
import { ABSENT, FAILED, INVALID, MISSING, ok, refusal, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared("local");
const admin = await firstAgent(server);
const { admin: user, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, user, tenant_slug));
const [mine, other] = await Promise.all([agentIn(server, admin, {}), agentIn(server, admin, {})]);

const remember = async (caller: Api, more = {}): Promise<string> => (await make(caller, more)).id;
const relate = (caller: Api, from: string, to: string, relationship_type = "related_to", more = {}) =>
  caller.post(`/memories/${from}/relationships`, { target_memory_id: to, relationship_type, ...more });
const edgesOf = async (caller: Api, id: string) =>
  ok(await caller.get(`/memories/${id}/relationships`)).relationships;
const graphOf = async (caller: Api, id: string, query = "") =>
  ok(await caller.get(`/memories/${id}/graph${query}`));
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

test("an edge is made with its defaults, listed from both ends, and removed", async () => {
  const [a, b] = [await remember(mine), await remember(mine)];
  const made = await relate(mine, a, b, "supports");
  expect(made).toMatchObject({
    status: 201,
    body: { source_memory_id: a, target_memory_id: b, relationship_type: "supports" },
  });
  expect(made.body).toMatchObject({ id: expect.stringMatching(/^rel_/), strength: 0.5, metadata: null });
  for (const end of [a, b]) expect(await edgesOf(mine, end)).toEqual([made.body]);
  const full = ok(await relate(mine, b, a, "contradicts", { strength: 0, metadata: { "a.b": { $x: 1 } } }));
  expect(full).toMatchObject({ strength: 0, metadata: { "a.b": { $x: 1 } } });
  const list = ok(await mine.get(`/memories/${a}/relationships?limit=1&offset=1`));
  expect(list).toEqual({ relationships: [full], count: 1 });
  expect((await mine.del(`/memories/${b}/relationships/${made.body.id}`)).status).toBe(204);
  await refused(mine.del(`/memories/${a}/relationships/${made.body.id}`), "not_found", {
    resource_type: "relationship",
  });
  expect(await edgesOf(mine, a)).toEqual([full]);
});

test("an edge of one type exists once", async () => {
  const [a, b] = [await remember(mine), await remember(mine)];
  const made = ok(await relate(mine, a, b, "part_of"));
  await refused(relate(mine, a, b, "part_of"), "conflict", { existing_resource_id: made.id });
  const both = await Promise.all([relate(mine, a, b, "follows"), relate(mine, a, b, "follows")]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test("the registry is served, and a refusal lists all that is accepted", async () => {
  const { relationship_types, reserved, total } = ok(await mine.get("/relationship-types"));
  const names = relationship_types.map(({ name }: { name: string }) => name);
  expect(total).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(["related_to", "supports", "corrected_by", "specializes"]));
  expect(reserved).toEqual(expect.arrayContaining(["CITES", "DERIVED_FROM", "HAS_CHUNK", "MENTIONS"]));
  const [a, b] = [await remember(mine), await remember(mine)];
  for (const type of [...reserved, "likes", "RELATED_TO", "toString", "", "x".repeat(500)]) {
    const answer = await relate(mine, a, b, type);
    await refused(answer, "validation_error", "relationship_type");
    for (const name of names) expect(answer.body.error.message).toContain(name);
  }
  for (const name of names) expect((await relate(mine, a, b, name)).status).toBe(201);
  expect(await edgesOf(mine, a)).toHaveLength(names.length);
});

test.each([
  ["an absent target", (a: string) => relate(mine, a, ABSENT), ...MISSING],
  ["an absent source", (a: string) => relate(mine, ABSENT, a), ...MISSING],
  ["itself", (a: string) => relate(mine, a, a), ...INVALID],
  ["a malformed id", (a: string) => relate(mine, a, "nonsense"), ...INVALID],
  ["too much strength", (a: string) => relate(mine, a, ABSENT, "supports", { strength: 1.1 }), ...FAILED],
  ["a list as metadata", (a: string) => relate(mine, a, ABSENT, "supports", { metadata: [1] }), ...FAILED],
  ["nothing at all", (a: string) => mine.post(`/memories/${a}/relationships`, {}), ...FAILED],
  ["removing a missing one", (a: string) => mine.del(`/memories/${a}/relationships/rel_absent`), ...MISSING],
  ["a graph too deep", (a: string) => mine.get(`/memories/${a}/graph?depth=4`), ...FAILED],
] as const)("refusals change nothing %s", async (_, attempt, status, code) => {
  const a = await remember(mine);
  expect(await attempt(a)).toMatchObject(refusal(status, code));
  expect(await edgesOf(mine, a)).toEqual([]);
});

test("refusals change nothing too much metadata", async () => {
  const [a, b] = [await remember(mine), await remember(mine)];
  const metadata = { text: "x".repeat(17_000) };
  await refused(relate(mine, a, b, "supports", { metadata }), "validation_error", "metadata");
  expect(await edgesOf(mine, a)).toEqual([]);
});

test("who sees and removes what an edge is seen only by who may read both ends", async () => {
  const [shared, secret] = [await remember(mine, { scope: "institutional" }), await remember(mine)];
  const edge = ok(await relate(mine, shared, secret));
  expect(idsOf(await edgesOf(mine, shared))).toEqual([edge.id]);
  expect(await edgesOf(other, shared)).toEqual([]);
  expect((await graphOf(other, shared)).edges).toEqual([]);
  expect((await other.get(`/memories/${secret}/relationships`)).status).toBe(404);
  expect((await other.get(`/memories/${secret}/graph`)).status).toBe(404);
  expect((await relate(other, shared, secret)).status).toBe(404);
  expect((await other.del(`/memories/${shared}/relationships/${edge.id}`)).status).toBe(404);
  expect(idsOf(await edgesOf(mine, shared))).toEqual([edge.id]);
});

test("who sees and removes what only its creator, the owner of its source and org admins delete it", async () => {
  const scope = "institutional";
  const [a, b] = [await remember(mine, { scope }), await remember(mine, { scope })];
  const third = await agentIn(server, admin, {});
  for (const remover of [other, mine, orgAdmin]) {
    const { id } = ok(await relate(other, a, b));
    await refused(third.del(`/memories/${a}/relationships/${id}`), "forbidden");
    expect((await remover.del(`/memories/${a}/relationships/${id}`)).status).toBe(204);
  }
});

test("who sees and removes what what the service recorded cannot be removed", async () => {
  const old = await remember(mine);
  const next = await remember(mine, { supersedes_id: old });
  const [edge] = await edgesOf(mine, next);
  expect(edge).toMatchObject({
    ...{ source_memory_id: next, target_memory_id: old, relationship_type: "SUPERSEDES" },
  });
  await refused(mine.del(`/memories/${next}/relationships/${edge.id}`), "forbidden");
});

test("the graph shows memories as they are shown elsewhere", async () => {
  const memory = await make(mine);
  expect(Object.keys((await graphOf(mine, memory.id)).nodes[0])).toEqual(Object.keys(memory));
});

test("the graph goes as far as it is asked to, over all directions, each memory once", async () => {
  const [a, b, c, d] = await Promise.all([1, 2, 3, 4].map(() => remember(mine)));
  const chain = [
    ok(await relate(mine, a as string, b as string)),
    ok(await relate(mine, c as string, b as string)),
    ok(await relate(mine, c as string, d as string)),
  ];
  for (const depth of [1, 2, 3]) {
    const { nodes, edges, truncated } = await graphOf(mine, a as string, `?depth=${depth}`);
    expect(idsOf(nodes)).toEqual([a, b, c, d].slice(0, depth + 1));
    expect(idsOf(edges)).toEqual(idsOf(chain).slice(0, depth));
    expect(truncated).toBe(false);
  }
  ok(await relate(mine, d as string, a as string));
  expect(idsOf((await graphOf(mine, a as string, "?depth=3")).nodes).sort()).toEqual([a, b, c, d].sort());
});

test("the graph an unreadable memory is no bridge", async () => {
  const scope = "institutional";
  const [a, bridge, c] = [
    await remember(mine, { scope }),
    await remember(mine),
    await remember(mine, { scope }),
  ];
  ok(await relate(mine, a, bridge));
  ok(await relate(mine, bridge, c));
  expect(idsOf((await graphOf(mine, a, "?depth=2")).nodes)).toEqual([a, bridge, c]);
  expect(idsOf((await graphOf(other, a, "?depth=3")).nodes)).toEqual([a]);
});

test("the graph forgotten and expired memories are on no path, superseded ones only on request", async () => {
  const [a, forgotten, replaced, expiring] = [
    await remember(mine),
    await remember(mine),
    await remember(mine),
    await remember(mine),
  ];
  for (const end of [forgotten, replaced, expiring]) ok(await relate(mine, a, end));
  ok(await mine.post(`/memories/${forgotten}/forget`));
  ok(await mine.patch(`/memories/${expiring}`, { expires_at: "2020-01-01T00:00:00Z" }));
  const next = await remember(mine, { supersedes_id: replaced });
  expect(idsOf((await graphOf(mine, a, "?depth=3")).nodes)).toEqual([a]);
  const all = await graphOf(mine, a, "?depth=3&include_superseded=true");
  expect(idsOf(all.nodes)).toEqual([a, replaced, next]);
  expect(await edgesOf(mine, a)).toHaveLength(1);
  expect((await relate(mine, a, forgotten, "supports")).status).toBe(404);
  ok(await mine.post(`/memories/${forgotten}/restore`));
  expect(await edgesOf(mine, a)).toHaveLength(2);
});
