import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { type Cast, makeCast, memory, remember } from "../support/memories.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { ABSENT, ok, refusal } from "../support/tenancy.ts";

let server: TestServer;
let cast: Cast;
beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });
  cast = await makeCast(server);
});
afterAll(() => server?.stop());

const supersede = (who: Api, id: string, superseded_by_id: string) =>
  who.post(`/memories/${id}/supersede`, { superseded_by_id });
const read = async (who: Api, id: string) => ok(await who.get(`/memories/${id}`));
const listed = async (who: Api, query = "") =>
  ok(await who.get(`/memories?limit=200${query}`)).memories.map((each: { id: string }) => each.id);

test("what is replaced is out of the list, stays readable, and says by what", async () => {
  const { alice, bob } = cast;
  const [old, fresh] = [await remember(bob, { scope: "team" }), await remember(alice, { scope: "team" })];
  const answer = await supersede(alice, old.id, fresh.id);
  expect(answer).toMatchObject({ status: 200, body: { memory_id: old.id, superseded_by: fresh.id } });
  expect(Object.keys(answer.body).sort()).toEqual(["invalid_at", "memory_id", "superseded_by"]);
  expect(await read(bob, old.id)).toMatchObject({
    status: "superseded",
    superseded_by: fresh.id,
    invalid_at: answer.body.invalid_at,
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
  // Not to those who may not read it.
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
  expect(await alice.post(`/memories/${loser.id}/restore`)).toMatchObject(
    refusal(409, "conflict", { status: "superseded" }),
  );
  ok(await alice.post(`/memories/${loser.id}/forget`));
  expect(await listed(alice, "&include_superseded=true")).not.toContain(loser.id);
  expect(ok(await alice.post(`/memories/${loser.id}/restore`))).toMatchObject(state);
  ok(await alice.post(`/memories/${winner.id}/restore`));
  expect(await read(alice, winner.id)).toMatchObject({ status: "active", invalid_at: null });
});

describe("refusals change nothing", () => {
  test("of what is not visible, or is the same", async () => {
    const { alice, bob } = cast;
    const [own, hidden] = [await remember(alice), await remember(bob)];
    for (const [answer, expected] of [
      [await supersede(alice, own.id, hidden.id), refusal(404, "not_found", { resource_id: hidden.id })],
      [await supersede(alice, hidden.id, own.id), refusal(404, "not_found", { resource_id: hidden.id })],
      [await supersede(alice, own.id, ABSENT), refusal(404, "not_found", { resource_id: ABSENT })],
      [
        await supersede(alice, own.id, own.id),
        refusal(400, "validation_error", { field: "superseded_by_id" }),
      ],
      [await supersede(alice, own.id, "x"), refusal(400, "validation_error", { field: "superseded_by_id" })],
      [
        await alice.post("/memories", memory({ supersedes_id: hidden.id })),
        refusal(404, "not_found", { resource_id: hidden.id }),
      ],
      [
        await alice.post("/memories", memory({ supersedes_id: ABSENT })),
        refusal(404, "not_found", { resource_type: "memory", resource_id: ABSENT }),
      ],
    ] as const) {
      expect(answer).toMatchObject(expected);
    }
    expect((await read(alice, own.id)).status).toBe("active");
    expect((await read(bob, hidden.id)).status).toBe("active");
  });

  test("of one that has expired in another's place: nobody would see either", async () => {
    const { alice } = cast;
    const old = await remember(alice);
    const expired = await remember(alice, { expires_at: "2020-01-01T00:00:00Z" });
    expect(await supersede(alice, old.id, expired.id)).toMatchObject(
      refusal(404, "not_found", { resource_id: expired.id }),
    );
    expect((await read(alice, old.id)).status).toBe("active");
  });

  test("of what was replaced before", async () => {
    const { alice } = cast;
    const [a, b, c] = [await remember(alice), await remember(alice), await remember(alice)];
    ok(await supersede(alice, a.id, b.id));
    const before = await listed(alice);
    for (const answer of [
      await supersede(alice, a.id, c.id),
      await supersede(alice, a.id, b.id),
      await supersede(alice, c.id, a.id),
      await alice.post("/memories", memory({ supersedes_id: a.id })),
    ]) {
      expect(answer).toMatchObject(refusal(409, "conflict", { status: "superseded" }));
    }
    expect(await read(alice, a.id)).toMatchObject({ superseded_by: b.id });
    expect(await listed(alice)).toEqual(before);
  });
});

test("of many that replace the same at once, one wins and the others leave nothing behind", async () => {
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
