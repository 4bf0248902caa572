import { expect, test } from "@jest/globals";
import { receive, type TestAgent } from "../support/agents.ts";
import type { Api } from "../support/http.ts";
import { agentIn, remember as make, makeCast } from "../support/memories.ts";
import { ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const LISTENS = ["memory:read", "memory:write", "receive", "send"];

const server = await useShared();
const cast = await makeCast(server);

const remember = async (caller: Api, more = {}): Promise<string> => (await make(caller, more)).id;
const cite = (caller: Api, id: string, body?: object) => caller.post(`/memories/${id}/cite`, body ?? {});
const usageOf = async (caller: Api, id: string) => ok(await caller.get(`/memories/${id}`)).usage;
const idsOf = (rows: { id: string }[]) => rows.map(({ id }) => id);

test("citing counts once for each caller, memory and day, and is 204 also on repeat", async () => {
  const { alice, bob, member } = cast;
  const id = await remember(alice, { scope: "institutional" });
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
    await make(alice, { tags: ["cleaning"], scope: "institutional" }),
    await make(alice, { tags: ["cleaning"] }),
    await make(alice, { tags: ["cleaning"] }),
  ];
  ok(await cite(bob, cited.id));
  ok(await cite(alice, own.id));
  const { memories } = ok(await alice.get("/memories?never_cited=true&tags=cleaning"));
  expect(idsOf(memories)).toEqual([never.id]);
  expect(ok(await alice.get(`/memories/${cited.id}`)).updated_at).toBe(cited.updated_at);
  // Neither what its own caller forgot nor what has expired can be cited.
  ok(await alice.post(`/memories/${never.id}/forget`));
  for (const id of [never.id, await remember(alice, { expires_at: "2020-01-01T00:00:00Z" })])
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
  const ofTeam = await remember(alice, { scope: "team", content: "the secret" });
  ok(await cite(reader, ofTeam, { originating_query_id: "q-7" }));
  const open = await remember(alice, { scope: "institutional" });
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
const sure = (confidence: number, more = {}) => remember(cast.alice, { confidence, ...more });

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
    await remember(cast.carol, { scope, confidence: 0.1 }),
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
  const [used, unused] = [await remember(agent, { scope }), await remember(agent, { scope })];
  const other = await remember(alice, { scope });
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
  const [a, b] = [await remember(agent, { type: "reflection" }), await remember(agent)];
  await remember(agent, { freshness_date: day(100) });
  await remember(agent, { freshness_date: day(10), expires_at: day(1) });
  ok(await agent.post(`/memories/${await remember(agent)}/forget`));
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
