import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { remember as make, makeCast } from "../support/memories.ts";
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
