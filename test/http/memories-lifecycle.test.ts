import { expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
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
