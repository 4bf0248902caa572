import { expect, test } from "@jest/globals";
import { receive, type TestAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, makeCast, memory, remember } from "../support/memories.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);
ok(await cast.admin.post("/projects", { key: "apollo" }));

/** Everything of a memory but when it was last read. */
async function stateOf(who: Api, id: string) {
  const { accessed_at: _, usage: __, ...state } = ok(await who.get(`/memories/${id}`));
  return state;
}

test("an update changes what it names, clears what is null, and leaves the rest", async () => {
  const made = await remember(cast.alice, {
    ...{ tags: ["one"], project_id: "apollo", expires_at: "2999-01-01T00:00:00Z" },
    ...{ freshness_date: "2026-01-01T00:00:00Z", metadata: { kept: true }, confidence: 0.9 },
  });
  const { alice } = cast;
  const patch = async (body: object) => ok(await alice.patch(`/memories/${made.id}`, body));
  // Read-only here: promoting widens it.
  expect(await patch({ title: "New", scope: "team" })).toMatchObject({ title: "New", scope: "agent" });
  const changed = await patch({ title: "New", importance: 1 });
  expect(changed).toEqual({ ...made, title: "New", importance: 1, updated_at: changed.updated_at });
  expect(changed.updated_at >= made.updated_at).toBe(true);
  const none = { expires_at: null, freshness_date: null, project_id: null };
  const left = { ...none, tags: [], metadata: {}, confidence: 0.9, title: "New" };
  expect(await patch({ ...none, tags: null, metadata: null })).toMatchObject(left);
  await patch({ tags: ["B b"] });
  expect((await patch({ tags: [] })).tags).toEqual([]);
});

test("an update that names nothing changes nothing, not even the time", async () => {
  const made = await remember(cast.alice);
  expect(ok(await cast.alice.patch(`/memories/${made.id}`, {})).updated_at).toBe(made.updated_at);
});

test.each([
  [{ title: "" }, "validation_failed", "title"],
  [{ title: null }, "validation_failed", "title"],
  [{ content: "" }, "validation_failed", "content"],
  [{ content: "x".repeat(32_769) }, "validation_failed", "content"],
  [{ confidence: 2 }, "validation_failed", "confidence"],
  [{ metadata: "text" }, "validation_failed", "metadata"],
  [{ metadata: { large: "x".repeat(70_000) } }, "validation_error", "metadata"],
  [{ project_id: "unknown" }, "validation_error", "project_id"],
  [{ expires_at: "soon" }, "validation_failed", "expires_at"],
  [{ tags: ["  "] }, "validation_failed", "tags.0"],
])("an update that does not fit changes nothing (%#)", async (body, code, field) => {
  const made = await remember(cast.alice);
  const before = await stateOf(cast.alice, made.id);
  expect(await cast.alice.patch(`/memories/${made.id}`, body)).toMatchObject(refusal(400, code, { field }));
  expect(await stateOf(cast.alice, made.id)).toEqual(before);
});

test("an update of many at once loses none", async () => {
  const { id } = await remember(cast.alice);
  const whole = { title: "T", content: "C", confidence: 0.1, importance: 0.2, tags: ["t"] };
  const changes = Object.entries(whole).map(([field, value]) => ({ [field]: value }));
  const many = [...changes, ...changes, ...changes, ...changes];
  const answers = await Promise.all(many.map((body) => cast.alice.patch(`/memories/${id}`, body)));
  expect(answers.map(({ status }) => status)).toEqual(many.map(() => 200));
  expect(await stateOf(cast.alice, id)).toMatchObject(whole);
});

const promote = (who: Api, id: string, body: object) => who.post(`/memories/${id}/promote`, body);

test("a promotion widens step by step, or at once", async () => {
  const { alice, bob, carol, teamA } = cast;
  const { id } = await remember(alice);
  const inTeam = await promote(alice, id, { scope: "team", team_id: teamA });
  expect(inTeam).toMatchObject({ status: 200, body: { scope: "team", team_id: teamA, status: "active" } });
  const seen = await Promise.all([bob, carol].map(async (who) => (await who.get(`/memories/${id}`)).status));
  expect(seen).toEqual([200, 404]);
  const everywhere = await promote(alice, id, { scope: "institutional" });
  expect(everywhere).toMatchObject({ status: 200, body: { scope: "institutional", team_id: null } });
  expect((await carol.get(`/memories/${id}`)).status).toBe(200);
  const again = ok(await promote(alice, id, { scope: "institutional" }));
  expect(again.updated_at).toBe(everywhere.body.updated_at);
  const other = await remember(alice);
  expect(ok(await promote(alice, other.id, { scope: "institutional" })).scope).toBe("institutional");
});

test("a promotion never narrows, and its payload fits its scope", async () => {
  const { alice, teamA, teamB } = cast;
  const narrow = refusal(422, "business_rule_violation", {
    rule: "scope_only_widens",
    message: expect.stringContaining("only be widened"),
  });
  const field = refusal(400, "validation_error", { field: "team_id" });
  const cases: [Record<string, unknown>, object, object][] = [
    [{ scope: "team" }, { scope: "agent" }, narrow],
    [{ scope: "team" }, { scope: "team", team_id: teamB }, narrow],
    [{ scope: "institutional" }, { scope: "team", team_id: teamA }, narrow],
    [{ scope: "institutional" }, { scope: "agent" }, narrow],
    [{}, { scope: "agent" }, narrow],
    [{}, { scope: "team" }, field],
    [{}, { scope: "team", team_id: "team_absent" }, field],
    [{}, { scope: "institutional", team_id: teamA }, field],
    [{}, { scope: "galaxy" }, refusal(400, "validation_failed", { field: "scope" })],
  ];
  for (const [more, body, refused] of cases) {
    const { id } = await remember(alice, more);
    const before = await stateOf(alice, id);
    expect(await promote(alice, id, body)).toMatchObject(refused);
    expect(await stateOf(alice, id)).toEqual(before);
  }
});

test("forgetting hides it from all but its owner, who can take it back as it was", async () => {
  const { alice, bob } = cast;
  const made = await remember(alice, { scope: "team" });
  const forget = () => alice.post(`/memories/${made.id}/forget`);
  const { status, body } = await forget();
  const told = { memory_id: made.id, forgotten: true, invalid_at: expect.stringMatching(/Z$/) };
  expect([status, body]).toEqual([200, told]);
  expect((await forget()).body).toEqual(body);
  expect((await bob.get(`/memories/${made.id}`)).status).toBe(404);
  expect(await stateOf(alice, made.id)).toMatchObject({ status: "forgotten", invalid_at: body.invalid_at });
  expect((await bob.post(`/memories/${made.id}/restore`)).status).toBe(404);
  const restored = ok(await alice.post(`/memories/${made.id}/restore`));
  const { updated_at, accessed_at } = restored;
  expect(restored).toMatchObject({ ...made, updated_at, accessed_at });
  expect(ok(await alice.post(`/memories/${made.id}/restore`))).toEqual(restored);
  expect((await bob.get(`/memories/${made.id}`)).status).toBe(200);
});

test("forgetting takes nothing else than a restore", async () => {
  const { alice } = cast;
  const [{ id }, other] = [await remember(alice), await remember(alice)];
  ok(await alice.post(`/memories/${id}/forget`));
  const before = await stateOf(alice, id);
  for (const answer of [
    await alice.patch(`/memories/${id}`, { title: "x" }),
    await alice.post(`/memories/${id}/promote`, { scope: "institutional" }),
    await alice.post(`/memories/${id}/supersede`, { superseded_by_id: other.id }),
    await alice.post(`/memories/${other.id}/supersede`, { superseded_by_id: id }),
    await alice.post("/memories", memory({ supersedes_id: id })),
  ])
    await refused(answer, "conflict", { status: "forgotten" });
  expect(await stateOf(alice, id)).toEqual(before);
  expect((await stateOf(alice, other.id)).status).toBe("active");
});

test("who may change a memory: the agent, the person who owns it, and an org admin who may read it", async () => {
  const { alice, bob, carol, admin, owner, member, orgAdmin, teamA } = cast;
  const actions: [string, (who: Api, id: string) => Promise<{ status: number }>][] = [
    ["update", (who, id) => who.patch(`/memories/${id}`, { title: "Mine" })],
    ["promote", (who, id) => who.post(`/memories/${id}/promote`, { scope: "institutional" })],
    ["forget", (who, id) => who.post(`/memories/${id}/forget`)],
  ];
  const outcomes: [string, Api, number, number, number][] = [
    ["alice", alice, 200, 200, 200],
    ["owner", owner, 200, 200, 200],
    ["orgAdmin", orgAdmin, 404, 200, 200],
    ["bob", bob, 404, 403, 403],
    ["carol", carol, 404, 404, 403],
    ["admin", admin, 404, 404, 403],
    ["member", member, 404, 404, 403],
  ];
  for (const [action, act] of actions) {
    for (const [who, api, ...expected] of outcomes) {
      const scopes = [{}, { scope: "team", team_id: teamA }, { scope: "institutional" }];
      const ids = await Promise.all(scopes.map(async (more) => (await remember(alice, more)).id));
      const statuses = await Promise.all(ids.map(async (id) => (await act(api, id)).status));
      expect([action, who, ...statuses]).toEqual([action, who, ...expected]);
    }
  }
});

const LISTENS = ["memory:read", "memory:write", "receive", "send"];

const newMemory = async (caller: Api, more = {}): Promise<string> => (await remember(caller, more)).id;
const cite = (caller: Api, id: string, body?: object) => caller.post(`/memories/${id}/cite`, body ?? {});
const usageOf = async (caller: Api, id: string) => ok(await caller.get(`/memories/${id}`)).usage;
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

test("citing counts once for each caller, memory and day, and is 204 also on repeat", async () => {
  const { alice, bob, member } = cast;
  const id = await newMemory(alice, { scope: "institutional" });
  expect(await usageOf(bob, id)).toEqual({ cite_count_30d: 0, last_cited_at: null, trust: 0.5 });
  const answers = await Promise.all([cite(bob, id), cite(bob, id, { originating_query_id: "q-1" })]);
  expect(answers.map(({ status, body }) => [status, body])).toEqual([
    [204, undefined],
    [204, undefined],
  ]);
  expect(await usageOf(bob, id)).toMatchObject({ cite_count_30d: 1, last_cited_at: expect.any(String) });
  for (const caller of [alice, member, bob]) expect((await cite(caller, id)).status).toBe(204);
  expect((await usageOf(alice, id)).cite_count_30d).toBe(3);
});

test("citing a cited memory is no candidate for cleaning, and keeps when it was updated", async () => {
  const { alice, bob } = cast;
  const [cited, own, never] = [
    await remember(alice, { tags: ["cleaning"], scope: "institutional" }),
    await remember(alice, { tags: ["cleaning"] }),
    await remember(alice, { tags: ["cleaning"] }),
  ];
  ok(await cite(bob, cited.id));
  ok(await cite(alice, own.id));
  const { memories } = ok(await alice.get("/memories?never_cited=true&tags=cleaning"));
  expect(idsOf(memories)).toEqual([never.id]);
  expect(ok(await alice.get(`/memories/${cited.id}`)).updated_at).toBe(cited.updated_at);
  // Neither what its own caller forgot nor what has expired can be cited.
  ok(await alice.post(`/memories/${never.id}/forget`));
  for (const id of [never.id, await newMemory(alice, { expires_at: "2020-01-01T00:00:00Z" })])
    await refused(cite(alice, id), "not_found");
});

test("memory.cited reaches those who ask for it and may read the memory, and says no content", async () => {
  const { admin, alice, teamA, teamB } = cast;
  const [reader, stranger] = [
    await agentIn(server, admin, { team_id: teamA }, LISTENS),
    await agentIn(server, admin, { team_id: teamB }, LISTENS),
  ];
  for (const agent of [reader, stranger]) {
    for (const event_type of ["memory.cited", "service.memory.*", "*"])
      ok(await agent.post(`/agents/${agent.id}/interests`, { event_type }));
  }
  const ofTeam = await newMemory(alice, { scope: "team", content: "the secret" });
  ok(await cite(reader, ofTeam, { originating_query_id: "q-7" }));
  const open = await newMemory(alice, { scope: "institutional" });
  // Events from before the interests may still be delivered.
  const heardBy = async (agent: TestAgent, count: number) => {
    const heard: Awaited<ReturnType<typeof receive>> = [];
    while (heard.length < count) {
      const come = await receive(agent, 1);
      heard.push(...come.filter(({ payload }) => [ofTeam, open].includes(payload.subject)));
    }
    return heard;
  };
  const known = await heardBy(reader, 3);
  const events = known.map(({ payload }) => [payload.type, payload.subject]).sort();
  expect(events).toEqual(
    [
      ["memory.cited", ofTeam],
      ["service.memory.created", ofTeam],
      ["service.memory.created", open],
    ].sort(),
  );
  const cited = known.find(({ payload }) => payload.type === "memory.cited").payload;
  expect(cited.data).toMatchObject({
    ...{ memory_id: ofTeam, cited_by: reader.id, own: false, originating_query_id: "q-7" },
  });
  expect(JSON.stringify(known)).not.toContain("the secret");
  expect((await heardBy(stranger, 1)).map(({ payload }) => payload.subject)).toEqual([open]);
});

const trustOf = async (id: string) => (await usageOf(cast.alice, id)).trust;
const sure = (confidence: number, more = {}) => newMemory(cast.alice, { confidence, ...more });

test("trust is the minimum over the lineage of what it replaced, and of what that was made of", async () => {
  const first = await sure(0.2);
  const second = await sure(0.9, { supersedes_id: first });
  const third = await sure(1, { supersedes_id: second });
  expect([await trustOf(first), await trustOf(second), await trustOf(third)]).toEqual([0.2, 0.2, 0.2]);
});

test("trust is the minimum over the lineage of what was merged into it", async () => {
  const [a, b] = [await sure(0.9), await sure(0.3)];
  const { id } = ok(await cast.alice.post("/memories/merge-proposals", { memory_a_id: a, memory_b_id: b }));
  expect(await trustOf(a)).toBe(0.9);
  ok(await cast.orgAdmin.post(`/memories/merge-proposals/${id}/resolve`, { surviving_memory_id: a }));
  expect(await trustOf(a)).toBe(0.3);
});

test("trust is the minimum over the lineage of what its owner says it was derived from; others cannot talk it down", async () => {
  const scope = "institutional";
  const [a, source, doubtful] = [
    await sure(0.9, { scope }),
    await sure(0.6, { scope }),
    await newMemory(cast.carol, { scope, confidence: 0.1 }),
  ];
  const derive = (caller: Api, from: string) =>
    caller.post(`/memories/${a}/relationships`, {
      target_memory_id: from,
      relationship_type: "derived_from",
    });
  ok(await derive(cast.alice, source));
  ok(await derive(cast.carol, doubtful));
  expect(await trustOf(a)).toBe(0.6);
});

test("trust is the minimum over the lineage a circle of derivations ends", async () => {
  const [a, b] = [await sure(0.8), await sure(0.7)];
  for (const [from, to] of [
    [a, b],
    [b, a],
  ]) {
    const edge = { target_memory_id: to, relationship_type: "derived_from" };
    ok(await cast.alice.post(`/memories/${from}/relationships`, edge));
  }
  expect([await trustOf(a), await trustOf(b)]).toEqual([0.7, 0.7]);
});

test("an agent's activity tells what it cited and how useful its memories were", async () => {
  const { admin, bob, alice, member, owner, orgAdmin } = cast;
  const agent = await agentIn(server, admin, { name: "busy" });
  const scope = "institutional";
  const [used, unused] = [await newMemory(agent, { scope }), await newMemory(agent, { scope })];
  const other = await newMemory(alice, { scope });
  ok(await cite(bob, used));
  ok(await cite(member, used));
  ok(await cite(agent, unused));
  ok(await cite(agent, other, { originating_query_id: "q" }));
  const activity = ok(await agent.get(`/agents/${agent.id}/activity`));
  expect(activity).toMatchObject({
    ...{ agent_id: agent.id, memory_count: 2, memory_count_with_usefulness_gt_zero: 1, cite_count_30d: 2 },
    activity: [
      { kind: "cite", memory_id: other, own: false, originating_query_id: "q" },
      { kind: "cite", memory_id: unused, own: true, originating_query_id: null },
    ],
    total: 2,
  });
  expect(ok(await orgAdmin.get(`/agents/${agent.id}/activity`))).toEqual(activity);
  expect(ok(await agent.get(`/agents/${agent.id}/activity?limit=1&offset=1`)).activity).toEqual(
    activity.activity.slice(1),
  );
  for (const caller of [bob, member])
    expect((await caller.get(`/agents/${agent.id}/activity`)).status).toBe(403);
  expect((await owner.get(`/agents/${alice.id}/activity`)).status).toBe(200);
  expect((await agent.get("/agents/ag_absent/activity")).status).toBe(404);
});

test("health counts what the caller may read", async () => {
  const agent = await agentIn(server, cast.admin, {});
  const healthOf = async (caller: Api) => ok(await caller.get("/memories/health"));
  const before = await healthOf(agent);
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString();
  const [a, b] = [await newMemory(agent, { type: "reflection" }), await newMemory(agent)];
  await newMemory(agent, { freshness_date: day(100) });
  await newMemory(agent, { freshness_date: day(10), expires_at: day(1) });
  ok(await agent.post(`/memories/${await newMemory(agent)}/forget`));
  ok(
    await agent.post(`/memories/${a}/relationships`, { target_memory_id: b, relationship_type: "supports" }),
  );
  ok(await agent.post("/memories/merge-proposals", { memory_a_id: a, memory_b_id: b }));
  const after = await healthOf(agent);
  const grown = (key: string) => after[key] - before[key];
  expect(["duplicate_count", "orphan_count", "stale_count", "reflection_count"].map(grown)).toEqual([
    1, 1, 1, 1,
  ]);
  expect(after.embed_gap_count).toEqual(expect.any(Number));
  expect(after.decay_distribution.under_7d - before.decay_distribution.under_7d).toBe(3);
  expect(await healthOf(cast.carol)).toMatchObject({ duplicate_count: before.duplicate_count });
});
