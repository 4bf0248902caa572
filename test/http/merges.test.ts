import { describe, expect, test } from "@jest/globals";
import type { TestAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, remember as make, makeCast } from "../support/memories.ts";
import { ABSENT, FAILED, INVALID, MISSING, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const PROPOSALS = "/memories/merge-proposals";

// Without an embedder the service proposes no merges itself.
const server = await useShared();
const cast = await makeCast(server);

const remember = async (caller: Api, more = {}): Promise<string> => (await make(caller, more)).id;
const propose = (caller: Api, a: string, b: string, more = {}) =>
  caller.post(PROPOSALS, { memory_a_id: a, memory_b_id: b, ...more });
const resolve = (caller: Api, id: string, surviving_memory_id: string, more = {}) =>
  caller.post(`${PROPOSALS}/${id}/resolve`, { surviving_memory_id, ...more });
const read = async (caller: Api, id: string) => ok(await caller.get(`/memories/${id}`));

/** Two memories of Alice's and a proposal to merge them. */
async function proposal(more = {}) {
  const [a, b] = [await remember(cast.alice, more), await remember(cast.alice, more)];
  const { id } = ok(await propose(cast.alice, a, b));
  return { a, b, id };
}

test("an agent proposes, an org admin resolves: the loser is merged, the winner has what was written", async () => {
  const { alice, orgAdmin } = cast;
  const [a, b] = [await remember(alice, { content: "One." }), await remember(alice, { content: "Two." })];
  const proposed = await propose(alice, a, b, { resolution_note: "alike" });
  expect(proposed).toMatchObject({
    status: 201,
    body: {
      ...{ proposer_user_id: null, proposer_agent_id: alice.id, memory_a_id: a, memory_b_id: b },
      ...{ surviving_memory_id: null, status: "open", resolved_at: null, resolved_by_user_id: null },
      ...{ resolution_note: "alike", similarity: null },
    },
  });
  const { id } = proposed.body;
  expect(ok(await alice.get(`${PROPOSALS}/${id}`))).toEqual(proposed.body);
  const resolved = ok(await resolve(orgAdmin, id, b, { merged_content: "Both.", resolution_note: "yes" }));
  expect(resolved).toMatchObject({
    ...{ id, status: "resolved", surviving_memory_id: b, resolution_note: "yes" },
    ...{ resolved_by_user_id: expect.stringMatching(/^usr_/), resolved_at: expect.any(String) },
  });
  expect(await read(alice, b)).toMatchObject({ status: "active", content: "Both." });
  expect(await read(alice, a)).toMatchObject({
    ...{ status: "merged", superseded_by: b, content: "One.", invalid_at: expect.any(String) },
  });
  expect(ok(await alice.get(`/memories/${b}/lineage`)).merge_lineage).toEqual([
    { loser_memory_id: a, winner_memory_id: b, origin: "proposal" },
  ]);
  expect(ok(await alice.get(`/memories/${a}/lineage`))).toMatchObject({
    ...{ memory_id: a, superseded: true, merge_lineage: [], supersedes_target: null },
  });
  const { memories } = ok(await alice.get("/memories?limit=200"));
  expect(memories.map((each: { id: string }) => each.id)).not.toContain(a);
});

test("a rejected proposal leaves both memories as they are, and may be made again", async () => {
  const { alice, orgAdmin } = cast;
  const { a, b, id } = await proposal();
  const before = [await read(alice, a), await read(alice, b)];
  expect(ok(await orgAdmin.post(`${PROPOSALS}/${id}/reject`, { resolution_note: "no" }))).toMatchObject({
    ...{ status: "rejected", surviving_memory_id: null, resolution_note: "no" },
  });
  const content = ({ accessed_at, ...rest }: Record<string, unknown>) => rest;
  expect([await read(alice, a), await read(alice, b)].map(content)).toEqual(before.map(content));
  expect(ok(await propose(alice, b, a)).id).not.toBe(id);
});

test("two memories have one open proposal, whichever is named first", async () => {
  const { a, b, id } = await proposal();
  await refused(propose(cast.alice, b, a), "conflict", { existing_resource_id: id });
  const [c, d] = [await remember(cast.alice), await remember(cast.alice)];
  const both = await Promise.all([propose(cast.alice, c, d), propose(cast.alice, d, c)]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
});

test("one of many concurrent decisions succeeds, and the memories follow it", async () => {
  const { a, b, id } = await proposal();
  const { orgAdmin } = cast;
  const answers = await Promise.all([
    ...[resolve(orgAdmin, id, a), resolve(orgAdmin, id, b), orgAdmin.post(`${PROPOSALS}/${id}/reject`)],
    resolve(orgAdmin, id, a, { merged_content: "late" }),
  ]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  const settled = answers.find(({ status }) => status === 200)?.body;
  expect(ok(await orgAdmin.get(`${PROPOSALS}/${id}`))).toEqual(settled);
  const states = [await read(cast.alice, a), await read(cast.alice, b)];
  const merged = states.filter(({ status }) => status === "merged");
  expect(merged).toHaveLength(settled.status === "resolved" ? 1 : 0);
  for (const loser of merged) expect(loser.superseded_by).toBe(settled.surviving_memory_id);
});

describe("concurrent merges and supersessions in a circle leave a memory active", () => {
  /** Each resolved proposal's loser is merged into its survivor, each other one is open, and one memory is left. */
  async function expectOneLeft(memories: string[], proposals: string[]): Promise<void> {
    const states = await Promise.all(memories.map((id) => read(cast.alice, id)));
    expect(states.map(({ status }) => status)).toContain("active");
    for (const id of proposals) {
      const row = ok(await cast.orgAdmin.get(`${PROPOSALS}/${id}`));
      const { memory_a_id, memory_b_id, surviving_memory_id, status } = row;
      const loser_id = surviving_memory_id === memory_a_id ? memory_b_id : memory_a_id;
      const loser = states.find((each) => each.id === loser_id);
      if (status === "resolved") expect(loser).toMatchObject({ superseded_by: surviving_memory_id });
      else expect(row).toMatchObject({ status: "open", surviving_memory_id: null, resolved_at: null });
    }
  }

  test.each(Array.from({ length: 6 }, (_, i) => i))("three merges, %d", async () => {
    const memories = await Promise.all([1, 2, 3].map(() => remember(cast.alice)));
    const [a, b, c] = memories as [string, string, string];
    const pairs = [[a, b] as const, [b, c] as const, [c, a] as const];
    const proposed = await Promise.all(pairs.map(([x, y]) => propose(cast.alice, x, y)));
    const ids = proposed.map((answer) => ok(answer).id);
    await Promise.all(ids.map((id, i) => resolve(cast.orgAdmin, id, memories[i] as string)));
    await expectOneLeft(memories, ids);
  });

  test.each(Array.from({ length: 6 }, (_, i) => i))("a merge and a replacement, %d", async () => {
    const { a, b, id } = await proposal();
    await Promise.all([
      resolve(cast.orgAdmin, id, a, { merged_content: "Both." }),
      cast.alice.post(`/memories/${a}/supersede`, { superseded_by_id: b }),
    ]);
    await expectOneLeft([a, b], [id]);
  });
});

test.each([
  ["proposing an absent memory", (a: string) => propose(cast.alice, a, ABSENT), 404, "not_found"],
  ["proposing another's", (a: string) => propose(cast.bob, a, a), 404, "not_found"],
  ["a memory with itself", (a: string) => propose(cast.alice, a, a), 400, "validation_error"],
  ["a malformed id", (a: string) => propose(cast.alice, a, "b"), 400, "validation_error"],
  ["one id only", (a: string) => cast.alice.post(PROPOSALS, { memory_a_id: a }), 400, "validation_failed"],
] as const)("refusals change nothing %s", async (_, attempt, status, code) => {
  const a = await remember(cast.alice);
  const { total } = ok(await cast.orgAdmin.get(PROPOSALS));
  expect(await attempt(a)).toMatchObject(refusal(status, code));
  expect(ok(await cast.orgAdmin.get(PROPOSALS)).total).toBe(total);
});

test.each([
  ["for a third memory", (id: string) => resolve(cast.orgAdmin, id, ABSENT), ...INVALID],
  ["for none", (id: string) => cast.orgAdmin.post(`${PROPOSALS}/${id}/resolve`, {}), ...FAILED],
  [
    "with empty content",
    (id: string, a: string) => resolve(cast.orgAdmin, id, a, { merged_content: "" }),
    ...FAILED,
  ],
  ["that does not exist", (_: string, a: string) => resolve(cast.orgAdmin, ABSENT, a), ...MISSING],
] as const)("refusals change nothing resolving %s", async (_, attempt, status, code) => {
  const { a, b, id } = await proposal();
  expect(await attempt(id, a)).toMatchObject(refusal(status, code));
  expect(ok(await cast.orgAdmin.get(`${PROPOSALS}/${id}`)).status).toBe("open");
  for (const each of [a, b]) expect((await read(cast.alice, each)).status).toBe("active");
});

test("refusals change nothing decided proposals stay decided", async () => {
  const { a, id } = await proposal();
  const settled = ok(await resolve(cast.orgAdmin, id, a));
  for (const again of [
    await resolve(cast.orgAdmin, id, a),
    await cast.orgAdmin.post(`${PROPOSALS}/${id}/reject`),
  ])
    await refused(again, "conflict", { existing_resource_id: id });
  expect(ok(await cast.orgAdmin.get(`${PROPOSALS}/${id}`))).toEqual(settled);
});

test("refusals change nothing a memory that is no longer in force is neither proposed nor merged", async () => {
  const { a, b, id } = await proposal();
  const c = await remember(cast.alice, { supersedes_id: b });
  await refused(resolve(cast.orgAdmin, id, a), "conflict", { status: "superseded" });
  await refused(propose(cast.alice, c, b), "conflict");
  ok(await cast.alice.post(`/memories/${a}/forget`));
  await refused(propose(cast.alice, a, c), "not_found");
  expect((await read(cast.alice, c)).status).toBe("active");
});

test("a list holds what the caller may read both memories of; an org admin's all", async () => {
  const { alice, bob, carol, teamA, orgAdmin, member, owner } = cast;
  const team = { scope: "team", team_id: teamA };
  const shared = await proposal({ scope: "institutional" });
  const ofTeam = await proposal(team);
  const half = await remember(alice, { scope: "institutional" });
  const mixed = ok(await propose(alice, half, await remember(alice))).id;
  const seen = async (caller: Api, query = "?limit=200") => {
    const { merge_proposals, total } = ok(await caller.get(PROPOSALS + query));
    const ids: string[] = merge_proposals.map((each: { id: string }) => each.id);
    return { ids: [shared.id, ofTeam.id, mixed].filter((id) => ids.includes(id)), all: ids, total };
  };
  expect((await seen(alice)).ids).toEqual([shared.id, ofTeam.id, mixed]);
  expect((await seen(owner)).ids).toEqual([shared.id, ofTeam.id, mixed]);
  expect((await seen(bob)).ids).toEqual([shared.id, ofTeam.id]);
  expect((await seen(carol)).ids).toEqual([shared.id]);
  expect((await seen(member)).ids).toEqual([shared.id]);
  expect((await seen(orgAdmin)).ids).toEqual([shared.id, ofTeam.id, mixed]);
  expect((await carol.get(`${PROPOSALS}/${mixed}`)).status).toBe(404);
  const { all, total } = await seen(bob);
  expect(total).toBe(all.length);
  const [first, second] = [await seen(bob, "?limit=1"), await seen(bob, "?limit=1&offset=1")];
  expect([...first.all, ...second.all]).toEqual(all.slice(0, 2));
  ok(await resolve(orgAdmin, shared.id, shared.a));
  expect((await seen(carol, "?status=open")).ids).toEqual([]);
  expect((await seen(carol, "?status=resolved")).ids).toEqual([shared.id]);
});

const [mine, other] = (await Promise.all([1, 2].map(() => agentIn(server, cast.admin, {})))) as [
  TestAgent,
  TestAgent,
];

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
  const third = await agentIn(server, cast.admin, {});
  for (const remover of [other, mine, cast.orgAdmin]) {
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
