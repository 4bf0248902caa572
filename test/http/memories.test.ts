import { describe, expect, test } from "@jest/globals";
import type { Api } from "../support/http.ts";
import { makeCast, memory, remember } from "../support/memories.ts";
import { ok, refusal, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);
ok(await cast.admin.post("/projects", { key: "apollo" }));

const totalOf = async (who: Api) => ok(await who.get("/memories?include_superseded=true")).total as number;

describe("a new memory", () => {
  test("keeps what it was given, and its owner is the caller", async () => {
    const { alice } = cast;
    const given = memory({
      type: "procedural",
      project_id: "apollo",
      ...{ tags: [" Émile_ZOLA ", "emile-zola", "Q3  review", "q3_-review"], confidence: 1, importance: 0 },
      metadata: { nested: { $odd: 1, "a.b": [null, true] } },
      source_type: "conversation",
      ...{ source_id: "c-1", source_url: "https://example.com/c/1", source_event_id: "evt_anything" },
      freshness_date: "2026-01-02T03:04:05+01:00",
      expires_at: "2999-01-01T00:00:00Z",
    });
    const created = await alice.post("/memories", given);
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      ...given,
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ...{ tenant_id: server.credentials.tenant_id, agent_id: alice.id, user_id: null, team_id: null },
      status: "active",
      tags: ["émile-zola", "emile-zola", "q3-review"],
      freshness_date: "2026-01-02T02:04:05.000Z",
      expires_at: "2999-01-01T00:00:00.000Z",
      ...{ valid_from: "2026-01-02T02:04:05.000Z", valid_until: null, namespace: null, key: null },
      ...{ subject: null, supersedes_id: null, invalid_at: null, superseded_by: null },
      created_at: expect.stringMatching(/\.\d{3}Z$/),
      updated_at: created.body.created_at,
      accessed_at: created.body.created_at,
    });
    expect(ok(await alice.get(`/memories/${created.body.id}`))).toMatchObject(created.body);
  });

  test("has defaults for what it was not given", async () =>
    expect(await remember(cast.alice)).toMatchObject({
      ...{ confidence: 0.5, importance: 0.5, metadata: {}, tags: [], project_id: null, source_type: null },
      expires_at: null,
    }));

  test("is of no project where its key is empty, as lists are asked for those", async () => {
    const { alice } = cast;
    const [made, moved] = [
      await remember(alice, { project_id: "" }),
      await remember(alice, { project_id: "apollo" }),
    ];
    expect(made.project_id).toBeNull();
    expect(ok(await alice.patch(`/memories/${moved.id}`, { project_id: "" })).project_id).toBeNull();
    const { memories } = ok(await alice.get("/memories?project_id=&limit=200"));
    expect(memories.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining([made.id, moved.id]));
  });

  test("takes the caller's team, or another that it names", async () => {
    const { alice, admin, teamA, teamB } = cast;
    expect(await remember(alice, { scope: "team" })).toMatchObject({ scope: "team", team_id: teamA });
    expect(await remember(alice, { scope: "team", team_id: teamB })).toMatchObject({ team_id: teamB });
    expect(await remember(admin, { scope: "team", team_id: teamA })).toMatchObject({ team_id: teamA });
  });

  test("of a person is its team's or the institution's", async () => {
    const { owner, member, teamA, teamB } = cast;
    const made = await remember(owner, { scope: "team", team_id: teamA });
    expect(made).toMatchObject({ agent_id: null, user_id: expect.stringMatching(/^usr_/), team_id: teamA });
    expect((await remember(member, { scope: "institutional" })).user_id).not.toBe(made.user_id);
    for (const [who, more, field] of [
      [owner, { scope: "agent" }, "scope"],
      [owner, { scope: "team" }, "team_id"],
      [owner, { scope: "team", team_id: teamB }, "team_id"],
    ] as const)
      await refused(who.post("/memories", memory(more)), "validation_error", { field });
  });
});

const long = (characters: number) => "é".repeat(characters);
test.each([
  [{ title: "" }, "validation_failed", "title"],
  [{ title: " " }, "validation_failed", "title"],
  [{ title: undefined }, "validation_failed", "title"],
  [{ title: long(501) }, "validation_failed", "title"],
  [{ content: "" }, "validation_failed", "content"],
  [{ content: long(32_769) }, "validation_failed", "content"],
  [{ type: "opinion" }, "validation_error", "type"],
  [{ type: undefined }, "validation_failed", "type"],
  [{ scope: "galaxy" }, "validation_failed", "scope"],
  [{ scope: undefined }, "validation_failed", "scope"],
  [{ scope: "team", team_id: "nonsense" }, "validation_error", "team_id"],
  [{ scope: "team", team_id: "team_absent" }, "validation_error", "team_id"],
  [{ scope: "institutional", team_id: "team_absent" }, "validation_error", "team_id"],
  [{ confidence: 1.01 }, "validation_failed", "confidence"],
  [{ importance: -0.1 }, "validation_failed", "importance"],
  [{ importance: "high" }, "validation_failed", "importance"],
  [{ metadata: [] }, "validation_failed", "metadata"],
  [{ metadata: { large: long(40_000) } }, "validation_error", "metadata"],
  [{ project_id: "unknown" }, "validation_error", "project_id"],
  [{ project_id: "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f" }, "validation_error", "project_id"],
  [{ tags: ["--"] }, "validation_failed", "tags.0"],
  [{ tags: "one" }, "validation_failed", "tags"],
  [{ source_url: "not a url" }, "validation_failed", "source_url"],
  [{ source_url: "javascript:alert(1)" }, "validation_failed", "source_url"],
  [{ source_url: "data:text/html,x" }, "validation_failed", "source_url"],
  [{ freshness_date: "yesterday" }, "validation_failed", "freshness_date"],
  [{ expires_at: "2026-13-01T00:00:00Z" }, "validation_failed", "expires_at"],
  [{ supersedes_id: "mem_1" }, "validation_error", "supersedes_id"],
])("refuses invalid memories, and stores nothing %#", async (more, code, field) => {
  const before = await totalOf(cast.alice);
  expect(await cast.alice.post("/memories", memory(more))).toMatchObject(refusal(400, code, { field }));
  expect(await totalOf(cast.alice)).toBe(before);
});

test("refuses invalid memories, and stores nothing content of 32,768 characters is taken, a body over 10 MB is not", async () => {
  expect((await remember(cast.alice, { content: long(32_768) })).content).toHaveLength(32_768);
  const huge = memory({ content: "x".repeat(10 * 1_048_576) });
  await refused(cast.alice.post("/memories", huge), "payload_too_large");
  const wide = memory({ content: "y".repeat(9_000_000) });
  await refused(cast.alice.post("/memories", wide), "validation_failed", "content");
});

/** The readers of each of these memories, by id and in lists; the first is its owner. */
test.each([
  ["agent", {}, ["alice", "owner"]],
  ["team", {}, ["alice", "bob", "owner", "orgAdmin"]],
  ["institutional", {}, ["alice", "bob", "carol", "admin", "owner", "member", "orgAdmin"]],
] as const)("visibility scope %s", async (scope, more, readers) => {
  const { id } = await remember(cast.alice, { scope, ...more, title: `Of scope ${scope}` });
  const everyone = ["alice", "bob", "carol", "admin", "owner", "member", "orgAdmin"] as const;
  for (const name of everyone) {
    const reads = (readers as readonly string[]).includes(name);
    const got = await cast[name].get(`/memories/${id}`);
    expect([name, got.status]).toEqual([name, reads ? 200 : 404]);
    const { memories } = ok(await cast[name].get("/memories?limit=200"));
    expect([name, memories.some((each: { id: string }) => each.id === id)]).toEqual([name, reads]);
  }
});

test("visibility an owner reads its memory in a team that is not its own", async () => {
  const { alice, bob, carol, teamB } = cast;
  const { id } = await remember(alice, { scope: "team", team_id: teamB });
  expect((await alice.get(`/memories/${id}`)).status).toBe(200);
  expect((await carol.get(`/memories/${id}`)).status).toBe(200);
  expect((await bob.get(`/memories/${id}`)).status).toBe(404);
  const { memories } = ok(await alice.get("/memories?scope=team&limit=200"));
  expect(memories.filter((each: { id: string }) => each.id === id)).toHaveLength(1);
});

test("visibility an expired memory is readable only by its owner, who can extend it", async () => {
  const { alice, bob } = cast;
  const { id } = await remember(alice, { scope: "institutional", expires_at: "2020-01-01T00:00:00Z" });
  const listed = async (who: Api) =>
    ok(await who.get("/memories?limit=200")).memories.some((each: { id: string }) => each.id === id);
  expect((await bob.get(`/memories/${id}`)).status).toBe(404);
  expect([await listed(alice), await listed(bob)]).toEqual([false, false]);
  ok(await alice.patch(`/memories/${id}`, { expires_at: null }));
  expect((await bob.get(`/memories/${id}`)).status).toBe(200);
  expect(await listed(bob)).toBe(true);
});

test("visibility reading is noted, to the minute", async () => {
  const made = await remember(cast.alice);
  ok(await cast.alice.get(`/memories/${made.id}`));
  const { accessed_at, updated_at } = ok(await cast.alice.get(`/memories/${made.id}`));
  // Within a minute of its making nothing is written.
  expect([accessed_at, updated_at]).toEqual([made.created_at, made.created_at]);
});
