import { describe, expect, test } from "@jest/globals";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const cast = await makeCast(server);
const agent = await agentIn(server, cast.admin, { name: "worker" });

const DAY = 86_400_000;
const save = async (body: object, who = agent) => ok(await who.post("/handoffs", body));
const resume = (query: string, who = agent) => who.post("/handoffs/resume", { query });
const namesOf = (handoffs: { name: string }[]) => handoffs.map(({ name }) => name);

const FULL = {
  ...{ name: "billing-migration", summary: "Two of three tables are migrated." },
  payload: {
    ...{ completed: ["Invoices", "Customers"], remaining: "Payments", blockers: [] },
    decisions: [{ title: "Batches of 500", rationale: "The replica lags", by: "us" }],
    rejected_options: ["One transaction", { title: "A trigger", rationale: "Too slow" }],
    ...{ next_action: "Run the backfill", context_notes: "See the\ndashboard", mood: { is: "good" } },
    ticket: "T-42",
  },
  ...{ artifacts: ["https://git.example/pull/42"], origin_client: "terminal" },
};

describe("saving", () => {
  test("stores and returns all given fields", async () => {
    const answer = await agent.post("/handoffs", { ...FULL, scope: "agent" });
    expect(answer.status).toBe(201);
    const { body } = answer;
    expect(body).toEqual({
      ...FULL,
      ...{ id: expect.any(String), agent_id: agent.id, citations: [], scope: "agent", version_num: 1 },
      ...{ pinned_at: null, last_resumed_at: null, bundle_id: null, expires_at: expect.any(String) },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(30 * DAY);
    expect(ok(await agent.get(`/handoffs/${body.id}`))).toEqual(body);
  });

  test("under an existing name overwrites it in place", async () => {
    const fields = { name: "again", summary: "one", payload: { remaining: ["x"] }, origin_client: "c" };
    const first = await save(fields);
    const answer = await agent.post("/handoffs", { name: "again", summary: "two" });
    const expected = { status: 200, body: { id: first.id, version_num: 2, summary: "two", payload: {} } };
    expect(answer).toMatchObject(expected);
    expect(answer.body).toMatchObject({ origin_client: null, created_at: first.created_at });
    expect(ok(await agent.post("/handoffs", { name: "again", origin_client: null })).version_num).toBe(3);
    expect(await save({ name: "again" }, cast.alice)).toMatchObject({ version_num: 1 });
  });

  test("at the same time from everywhere counts every version once", async () => {
    const twelve = Array.from({ length: 12 }, (_, i) => save({ name: "race", summary: `${i}` }));
    const saved = await Promise.all(twelve);
    const answer = saved.map(({ version_num }) => version_num).sort((a, b) => a - b);
    expect(answer).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
    expect(new Set(saved.map(({ id }) => id)).size).toBe(1);
  });

  test("with if_version only over that version", async () => {
    const { id } = await save({ name: "guarded", if_version: 0 });
    for (const if_version of [0, 2]) {
      const answer = await agent.post("/handoffs", { name: "guarded", summary: "no", if_version });
      await refused(answer, "conflict", { existing_resource_id: id, version_num: 1 });
    }
    await refused(agent.post("/handoffs", { name: "no such", if_version: 1 }), "conflict");
    expect(await save({ name: "guarded", if_version: 1 })).toMatchObject({ version_num: 2, summary: "" });
  });

  test.each([
    ["an unknown key", { name: "x", mood: "good" }, "mood"],
    ["no name", {}, "name"],
    ["a blank name", { name: " " }, "name"],
    ["another scope", { name: "x", scope: "team" }, "scope"],
    ["a list that cannot be told", { name: "x", payload: { completed: [{ a: 1 }] } }, "payload.completed.0"],
    ["no title", { name: "x", payload: { decisions: [{ rationale: "r" }] } }, "payload.decisions.0.title"],
    ["a next action that is no text", { name: "x", payload: { next_action: 5 } }, "payload.next_action"],
  ])("refuses %s", async (_, body, field) => {
    await refused(agent.post("/handoffs", body), "validation_failed", { field });
    expect(ok(await agent.get("/handoffs?q=x"))).not.toContainEqual(expect.objectContaining({ name: "x" }));
  });

  test("refuses more than 256 KB, and a bundle of somebody else", async () => {
    const long = { name: "long", payload: { notes: "n".repeat(300_000) } };
    await refused(agent.post("/handoffs", long), "payload_too_large");
    const { id: bundle_id } = ok(await cast.alice.post("/bundles", {}));
    await refused(agent.post("/handoffs", { name: "b", bundle_id }), "validation_error", "bundle_id");
    expect(await save({ name: "b", bundle_id }, cast.alice)).toMatchObject({ bundle_id });
  });

  test("keeps the titles that cited memories had, where the agent may see them", async () => {
    const own = await remember(agent, { title: "Mine" });
    const hidden = await remember(cast.carol, { title: "Secret" });
    const citations = [own.id, hidden.id].map((memory_id) => ({ memory_id }));
    const { id } = await save({ name: "cites", citations });
    ok(await agent.patch(`/memories/${own.id}`, { title: "Renamed" }));
    const { body } = await agent.get(`/handoffs/${id}`);
    const expected = [
      { memory_id: own.id, title: "Mine" },
      { memory_id: hidden.id, title: "" },
    ];
    expect(body.citations).toEqual(expected);
    const erased = ok(await cast.orgAdmin.post("/memories/erase", { ids: [own.id] }));
    expect(erased.erased).toMatchObject({ handoffs: 1 });
    expect(JSON.stringify(ok(await agent.get(`/handoffs/${id}`)))).not.toContain("Mine");
  });
});

describe("going on", () => {
  test("by the exact name, the id, or what it is about gives what an export does, which stamps nothing", async () => {
    const saved = await save({ ...FULL, name: "orchard" });
    const exported = await agent.get(`/handoffs/${saved.id}/export`);
    expect(exported.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
    expect(ok(await agent.get(`/handoffs/${saved.id}`))).toEqual(saved);
    await save({ name: "kitchen", summary: "Repaint the cupboards in green." });
    for (const query of ["orchard", saved.id.toUpperCase()]) {
      const resumed = await resume(query);
      expect(resumed.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
      expect(resumed.body).toContain("# Handoff: orchard");
      expect(resumed.body).toBe(exported.body);
    }
    const stamped = ok(await agent.get(`/handoffs/${saved.id}`));
    expect(Date.parse(stamped.last_resumed_at)).toBeGreaterThanOrEqual(Date.parse(saved.created_at));
    expect(Date.parse(stamped.expires_at) - Date.parse(stamped.last_resumed_at)).toBe(30 * DAY);
    expect(stamped).toMatchObject({ version_num: 1, updated_at: saved.updated_at });
    expect((await resume("repaint the cupboards")).body).toContain("# Handoff: kitchen");
  });

  test("lists candidates when several fit, and resumes none; is not found if nothing matches", async () => {
    const nothing = { resource_type: "handoff", resource_id: "quasar photometry" };
    await refused(resume("quasar photometry"), "not_found", nothing);
    const made = [];
    for (const n of [1, 2])
      made.push(await save({ name: `zeppelin ${n}`, summary: "Inflate the zeppelin hull." }));
    const answer = await resume("inflate the zeppelin hull");
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    const { candidates } = ok(answer);
    expect(namesOf(candidates).sort()).toEqual(["zeppelin 1", "zeppelin 2"]);
    expect(candidates[0]).toEqual({
      ...{ id: expect.any(String), name: expect.any(String), summary: "Inflate the zeppelin hull." },
      ...{ score: expect.any(Number), updated_at: expect.any(String) },
    });
    for (const { id } of made) expect(ok(await agent.get(`/handoffs/${id}`)).last_resumed_at).toBeNull();
  });

  test("a name that looks like another's id, and one called resume, are found by name first", async () => {
    const other = await save({ name: "plain" });
    const named = await save({ name: other.id, summary: "Named after it" });
    expect((await resume(other.id)).body).toContain(`- id ${named.id}`);
    const { id } = await save({ name: "resume" });
    expect((await resume(id)).body).toContain("Handoff: resume");
  });
});

test("the list is by the latest saving, in pages, and by words that fit", async () => {
  const lister = await agentIn(server, cast.admin, { name: "lister" });
  for (const name of ["alpha", "beta", "gamma"]) await save({ name, summary: `The ${name} one` }, lister);
  await save({ name: "alpha", summary: "The alpha one, again" }, lister);
  const list = async (query = "") => namesOf(ok(await lister.get(`/handoffs${query}`)));
  expect(await list()).toEqual(["alpha", "gamma", "beta"]);
  expect(await list("?limit=1&offset=1")).toEqual(["gamma"]);
  expect(await list("?q=gamma")).toEqual(["gamma"]);
  expect(await list("?q=lph")).toEqual(["alpha"]);
  expect(await list("?q=nothing%20of%20it")).toEqual([]);
  expect(await list("?q=again&limit=1")).toEqual(["alpha"]);
  await refused(lister.get("/handoffs?limit=201"), "validation_failed", "limit");
});

test("pinned handoffs are marked until they are unpinned, which restarts their term", async () => {
  const { id, expires_at } = await save({ name: "pinned" });
  const pinned = ok(await agent.post(`/handoffs/${id}/pin`));
  expect(pinned).toMatchObject({ pinned_at: expect.any(String), expires_at, version_num: 1 });
  expect(ok(await agent.post(`/handoffs/${id}/pin`))).toEqual(pinned);
  expect(await save({ name: "pinned", summary: "still" })).toMatchObject({ pinned_at: pinned.pinned_at });
  const unpinned = ok(await agent.post(`/handoffs/${id}/unpin`));
  expect(unpinned.pinned_at).toBeNull();
  expect(Date.parse(unpinned.expires_at)).toBeGreaterThan(Date.parse(expires_at));
});

test("a deleted one is gone, from search too, and its name is free", async () => {
  const { id } = await save({ name: "gone", summary: "Sell the harpsichord" });
  expect((await agent.del(`/handoffs/${id}`)).status).toBe(204);
  for (const path of [`/handoffs/${id}`, `/handoffs/${id}/export`])
    await refused(agent.get(path), "not_found", { resource_id: id });
  await refused(agent.del(`/handoffs/${id}`), "not_found");
  await refused(resume("sell the harpsichord"), "not_found");
  const again = await save({ name: "gone" });
  expect(again).toMatchObject({ version_num: 1 });
  expect(again.id).not.toBe(id);
});

test("only the agent reads it", async () => {
  const { id } = await save({ name: "private", summary: "A secret plan" }, cast.alice);
  for (const path of ["", "/export"]) await refused(cast.bob.get(`/handoffs/${id}${path}`), "not_found");
  for (const query of ["private", id, "a secret plan"]) await refused(resume(query, cast.bob), "not_found");
  expect(ok(await cast.bob.get("/handoffs?q=secret"))).toEqual([]);
});
