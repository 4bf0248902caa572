import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
import { ABSENT, ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);

const supersede = (who: Api, id: string, superseded_by_id: string) =>
  who.post(`/memories/${id}/supersede`, { superseded_by_id });
const read = async (who: Api, id: string) => ok(await who.get(`/memories/${id}`));
const listed = async (who: Api, query = "") =>
  ok(await who.get(`/memories?limit=200${query}`)).memories.map((each: { id: string }) => each.id);

test("a superseded memory is not listed, stays readable, and names its successor", async () => {
  const { alice, bob } = cast;
  const [old, fresh] = [await remember(bob, { scope: "team" }), await remember(alice, { scope: "team" })];
  const answer = await supersede(bob, old.id, fresh.id);
  expect(answer).toMatchObject({ status: 200, body: { memory_id: old.id, superseded_by: fresh.id } });
  expect(Object.keys(answer.body).sort()).toEqual(["invalid_at", "memory_id", "superseded_by"]);
  expect(await read(bob, old.id)).toMatchObject({
    ...{ status: "superseded", superseded_by: fresh.id, invalid_at: answer.body.invalid_at },
  });
  expect(await listed(bob)).not.toContain(old.id);
  expect(await listed(bob, "&include_superseded=true")).toContain(old.id);
  const edges = ok(await bob.get(`/memories/${old.id}/relationships`)).relationships;
  expect(edges).toMatchObject([
    { relationship_type: "SUPERSEDES", source_memory_id: fresh.id, target_memory_id: old.id },
  ]);
});

test("a memory made in the place of another replaces it, once for a key", async () => {
  const { alice } = cast;
  const old = await remember(alice);
  const key = { "Idempotency-Key": "in-the-place" };
  const body = memory({ title: "Fresh", supersedes_id: old.id });
  const made = await alice.post("/memories", body, key);
  expect(made).toMatchObject({ status: 201, body: { status: "active", supersedes_id: old.id } });
  expect(await read(alice, old.id)).toMatchObject({ status: "superseded", superseded_by: made.body.id });
  expect((await alice.post("/memories", body, key)).body).toEqual(made.body);
  expect(await listed(alice)).toContain(made.body.id);
});

test("the lineage names what was replaced, and nothing for a fresh one", async () => {
  const { alice, carol } = cast;
  const [a, b, c] = [
    await remember(alice),
    await remember(alice),
    await remember(alice, { scope: "institutional" }),
  ];
  const fresh = { merge_lineage: [], superseded: false, supersedes_target: null };
  expect(ok(await alice.get(`/memories/${a.id}/lineage`))).toEqual({ memory_id: a.id, ...fresh });
  ok(await supersede(alice, a.id, b.id));
  ok(await supersede(alice, b.id, c.id));
  const lineage = async (who: Api, id: string) => ok(await who.get(`/memories/${id}/lineage`));
  expect(await lineage(alice, a.id)).toMatchObject({ superseded: true, supersedes_target: null });
  expect(await lineage(alice, b.id)).toMatchObject({ superseded: true, supersedes_target: a.id });
  expect(await lineage(alice, c.id)).toMatchObject({ superseded: false, supersedes_target: b.id });
  // Hidden from callers that may not read it.
  expect(await lineage(carol, c.id)).toMatchObject({ superseded: false, supersedes_target: null });
});

test("forgetting what replaced another does not bring that back, nor does restoring the other", async () => {
  const { alice } = cast;
  const [loser, winner] = [await remember(alice), await remember(alice)];
  const { invalid_at } = ok(await supersede(alice, loser.id, winner.id));
  ok(await alice.post(`/memories/${winner.id}/forget`));
  const state = { status: "superseded", superseded_by: winner.id, invalid_at };
  expect(await read(alice, loser.id)).toMatchObject(state);
  expect(await listed(alice)).not.toContain(loser.id);
  await refused(alice.post(`/memories/${loser.id}/restore`), "conflict", { status: "superseded" });
  ok(await alice.post(`/memories/${loser.id}/forget`));
  expect(await listed(alice, "&include_superseded=true")).not.toContain(loser.id);
  expect(ok(await alice.post(`/memories/${loser.id}/restore`))).toMatchObject(state);
  ok(await alice.post(`/memories/${winner.id}/restore`));
  expect(await read(alice, winner.id)).toMatchObject({ status: "active", invalid_at: null });
});

describe("nobody can hide memories of others", () => {
  const create = (who: Api, supersedes_id: string, more: Record<string, unknown>) =>
    who.post("/memories", memory({ ...more, supersedes_id }));
  const FORBIDDEN = refusal(403, "forbidden");
  const LESS_VISIBLE = refusal(422, "business_rule_violation", { rule: "scope_only_widens" });

  test("only the owner, its person and an org admin replace a memory", async () => {
    const { admin, alice, bob, carol, orgAdmin, owner, member } = cast;
    const old = await remember(alice, { scope: "institutional" });
    for (const who of [admin, bob, carol, member]) {
      const fresh = await remember(who, { scope: "institutional" });
      expect(await supersede(who, old.id, fresh.id)).toMatchObject(FORBIDDEN);
      expect(await create(who, old.id, { scope: "institutional" })).toMatchObject(FORBIDDEN);
      const given = [memory(), memory({ scope: "institutional", supersedes_id: old.id })];
      expect(ok(await who.post("/memories/batch", { memories: given.slice(1) })).results).toMatchObject([
        { status: 403, error: { code: "forbidden" } },
      ]);
    }
    expect(await read(bob, old.id)).toMatchObject({ status: "active", superseded_by: null });
    for (const who of [alice, owner, orgAdmin]) {
      const theirs = await remember(alice, { scope: "institutional" });
      expect((await create(who, theirs.id, { scope: "institutional" })).status).toBe(201);
    }
  });

  test("a successor is at least as visible as what it replaces", async () => {
    const { alice, bob, teamA, teamB, orgAdmin } = cast;
    const team = { scope: "team", team_id: teamA };
    const institutional = await remember(alice, { scope: "institutional" });
    const shared = await remember(alice, team);
    for (const [old, scopes] of [
      [institutional, [{ scope: "agent" }, team]],
      [shared, [{ scope: "agent" }, { scope: "team", team_id: teamB }]],
    ] as const) {
      for (const scope of scopes) {
        const fresh = await remember(alice, scope);
        expect(await supersede(alice, old.id, fresh.id)).toMatchObject(LESS_VISIBLE);
        expect(await create(alice, old.id, scope)).toMatchObject(LESS_VISIBLE);
        const batch = await alice.post("/memories/batch", {
          memories: [memory({ ...scope, supersedes_id: old.id })],
        });
        expect(ok(batch).results).toMatchObject([
          { status: 422, error: { code: "business_rule_violation" } },
        ]);
      }
      expect(await create(orgAdmin, old.id, { scope: "team", team_id: teamB })).toMatchObject(LESS_VISIBLE);
      expect(await read(bob, old.id)).toMatchObject({ status: "active", superseded_by: null });
    }
    const wide = await remember(alice, team);
    expect(ok(await supersede(alice, shared.id, wide.id)).superseded_by).toBe(wide.id);
    expect((await create(alice, wide.id, { scope: "institutional" })).status).toBe(201);
  });

  test("an owner in another team can still read the successor of its memory", async () => {
    const { carol, bob, teamA, orgAdmin } = cast;
    const old = await remember(carol, { scope: "team", team_id: teamA });
    const fresh = await remember(bob, { scope: "team", team_id: teamA });
    expect(await supersede(orgAdmin, old.id, fresh.id)).toMatchObject(LESS_VISIBLE);
    expect(await read(carol, old.id)).toMatchObject({ status: "active" });
  });

  test("nor by a merge that an admin is talked into", async () => {
    const { alice, bob, orgAdmin } = cast;
    const shared = await remember(bob, { scope: "institutional" });
    const own = await remember(alice);
    const given = { memory_a_id: shared.id, memory_b_id: own.id };
    const { id } = ok(await alice.post("/memories/merge-proposals", given));
    const resolve = (surviving_memory_id: string) =>
      orgAdmin.post(`/memories/merge-proposals/${id}/resolve`, { surviving_memory_id });
    expect(await resolve(own.id)).toMatchObject(LESS_VISIBLE);
    expect(await read(bob, shared.id)).toMatchObject({ status: "active" });
    expect(ok(await resolve(shared.id))).toMatchObject({ status: "resolved" });
  });

  test("a memory promoted while it is superseded is not hidden", async () => {
    const { alice, bob } = cast;
    for (let round = 0; round < 10; round++) {
      const [old, fresh] = [await remember(alice), await remember(alice)];
      await Promise.all([
        alice.post(`/memories/${old.id}/promote`, { scope: "institutional" }),
        supersede(alice, old.id, fresh.id),
      ]);
      const { scope, status } = await read(alice, old.id);
      expect([
        ["institutional", "active"],
        ["agent", "superseded"],
      ]).toContainEqual([scope, status]);
      if (scope === "institutional") expect((await read(bob, old.id)).status).toBe("active");
    }
  });
});

/** An institutional memory of Alice's that took the place of a private one, and has gone itself. */
async function between() {
  const { alice } = cast;
  const secret = await remember(alice);
  const shared = ok(
    await alice.post(
      "/memories",
      memory({ scope: "institutional", title: "Between", supersedes_id: secret.id }),
    ),
  );
  const gone = await remember(alice, { scope: "institutional", title: "Gone" });
  ok(await supersede(alice, shared.id, gone.id));
  ok(await alice.post(`/memories/${gone.id}/forget`));
  return { secret, shared, gone };
}

test("ids of memories that a reader may not see are not shown neither by reading, listing, searching, nor in lineage and graph", async () => {
  const { alice, bob } = cast;
  const { secret, shared, gone } = await between();
  expect(await read(alice, shared.id)).toMatchObject({ supersedes_id: secret.id, superseded_by: gone.id });
  const other = await remember(bob, { scope: "institutional" });
  const edge = { target_memory_id: shared.id, relationship_type: "related_to" };
  ok(await bob.post(`/memories/${other.id}/relationships`, edge));
  const search = { query: "Between", include_superseded: true };
  const shown = [
    await bob.get(`/memories/${shared.id}`),
    await bob.get("/memories?limit=200&include_superseded=true&search=Between"),
    await bob.get("/memories?limit=200&include_superseded=true"),
    await bob.post("/memories/search", search),
    await bob.get(`/memories/${shared.id}/lineage`),
    await bob.get(`/memories/${shared.id}/relationships`),
    await bob.get(`/memories/${shared.id}/graph?include_superseded=true`),
    await bob.get(`/memories/${other.id}/graph?depth=2&include_superseded=true`),
    await bob.get("/memories/findings?mark_read=false"),
    await bob.get("/memories/health"),
    await supersede(cast.orgAdmin, shared.id, other.id),
    await cast.orgAdmin.patch(`/memories/${shared.id}`, { title: "Other" }),
  ];
  for (const { body } of shown) {
    expect(JSON.stringify(body)).not.toContain(secret.id);
    expect(JSON.stringify(body)).not.toContain(gone.id);
  }
  const showing = shown.slice(0, 9).map(({ body }) => JSON.stringify(body).includes(shared.id));
  expect(showing).toEqual([...Array(8).fill(true), false]);
  expect(await read(bob, shared.id)).toMatchObject({ supersedes_id: null, superseded_by: null });
});

test("refusals change nothing of what is not visible, or is the same", async () => {
  const { alice, bob } = cast;
  const [own, hidden] = [await remember(alice), await remember(bob)];
  for (const [answer, expected] of [
    [await supersede(alice, own.id, hidden.id), refusal(404, "not_found", { resource_id: hidden.id })],
    [await supersede(alice, hidden.id, own.id), refusal(404, "not_found", { resource_id: hidden.id })],
    [await supersede(alice, own.id, ABSENT), refusal(404, "not_found", { resource_id: ABSENT })],
    [await supersede(alice, own.id, own.id), refusal(400, "validation_error", { field: "superseded_by_id" })],
    [await supersede(alice, own.id, "x"), refusal(400, "validation_error", { field: "superseded_by_id" })],
    [
      await alice.post("/memories", memory({ supersedes_id: hidden.id })),
      refusal(404, "not_found", { resource_id: hidden.id }),
    ],
    [
      await alice.post("/memories", memory({ supersedes_id: ABSENT })),
      refusal(404, "not_found", { resource_type: "memory", resource_id: ABSENT }),
    ],
  ] as const)
    expect(answer).toMatchObject(expected);
  expect((await read(alice, own.id)).status).toBe("active");
  expect((await read(bob, hidden.id)).status).toBe("active");
});

test("refusals change nothing of one that has expired in another's place: nobody would see either", async () => {
  const { alice } = cast;
  const old = await remember(alice);
  const expired = await remember(alice, { expires_at: "2020-01-01T00:00:00Z" });
  await refused(supersede(alice, old.id, expired.id), "not_found", { resource_id: expired.id });
  expect((await read(alice, old.id)).status).toBe("active");
});

test("refusals change nothing of what was replaced before", async () => {
  const { alice } = cast;
  const [a, b, c] = [await remember(alice), await remember(alice), await remember(alice)];
  ok(await supersede(alice, a.id, b.id));
  const before = await listed(alice);
  for (const answer of [
    await supersede(alice, a.id, c.id),
    await supersede(alice, a.id, b.id),
    await supersede(alice, c.id, a.id),
    await alice.post("/memories", memory({ supersedes_id: a.id })),
  ])
    await refused(answer, "conflict", { status: "superseded" });
  expect(await read(alice, a.id)).toMatchObject({ superseded_by: b.id });
  expect(await listed(alice)).toEqual(before);
});

test("of many concurrent successors one wins, and the others leave nothing behind", async () => {
  const { alice } = cast;
  for (let round = 0; round < 5; round++) {
    const old = await remember(alice);
    const rivals = await Promise.all([1, 2, 3].map(() => remember(alice)));
    const before = (await listed(alice)).length;
    const answers = await Promise.all([
      ...rivals.map((rival) => supersede(alice, old.id, rival.id)),
      ...[1, 2, 3].map(() => alice.post("/memories", memory({ supersedes_id: old.id }))),
    ]);
    const won = answers.filter(({ status }) => status < 300);
    expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(5);
    expect(won).toHaveLength(1);
    const winner = won[0]?.body.superseded_by ?? won[0]?.body.id;
    expect(await read(alice, old.id)).toMatchObject({ status: "superseded", superseded_by: winner });
    expect(await listed(alice)).toHaveLength(before - 1 + (won[0]?.status === 201 ? 1 : 0));
  }
});

test("two that replace each other at once: one stays in force", async () => {
  const { alice } = cast;
  for (let round = 0; round < 10; round++) {
    const [a, b] = [await remember(alice), await remember(alice)];
    const answers = await Promise.all([supersede(alice, a.id, b.id), supersede(alice, b.id, a.id)]);
    const statuses = [(await read(alice, a.id)).status, (await read(alice, b.id)).status];
    expect(statuses.filter((status) => status === "active").length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(
      statuses.filter((status) => status === "superseded").length,
    );
  }
});
