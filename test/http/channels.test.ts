import { describe, expect, test } from "@jest/globals";
import { cloudEvent, fannedOut, firstAgent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);
const { admin: user, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, user, tenant_slug));

async function matchedCount(id: string, type: string): Promise<number> {
  const { event_id } = ok(await admin.post("/events", cloudEvent(id, { type })));
  return (await fannedOut(admin, event_id)).matched_count;
}

test("a channel lives: created, listed, renamed, deleted with all it has", async () => {
  const created = await admin.post("/channels", { name: "Life", description: "of a channel" });
  expect(created).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^ch_/), name: "Life" } });
  const { id } = created.body;
  expect(ok(await admin.get(`/channels/${id}`))).toEqual(created.body);
  expect(ok(await admin.get("/channels"))).toMatchObject({ channels: [created.body], total: 1 });
  const answer = ok(await admin.patch(`/channels/${id}`, { name: "Lives", description: null }));
  expect(answer).toMatchObject({ name: "Lives", description: null });
  ok(await admin.post(`/channels/${id}/members`));
  ok(await admin.post(`/channels/${id}/feeds`, { event_type_glob: "com.life.*" }));
  expect(await matchedCount("life-before", "com.life.x")).toBe(1);
  expect((await admin.del(`/channels/${id}`)).status).toBe(204);
  expect(await matchedCount("life-after", "com.life.x")).toBe(0);
  for (const path of ["", "/members", "/feeds"])
    expect((await admin.get(`/channels/${id}${path}`)).status).toBe(404);
});

test("an identical feed is refused, whether its filter is blank or absent", async () => {
  const { id } = ok(await admin.post("/channels", { name: "Twice" }));
  const feed = { event_type_glob: "com.twice.*", filter_expression: "" };
  const first = ok(await admin.post(`/channels/${id}/feeds`, feed));
  expect(first.filter_expression).toBeNull();
  expect(await admin.post(`/channels/${id}/feeds`, { event_type_glob: "com.twice.*" })).toMatchObject({
    status: 422,
    body: { error: { details: { rule: "feed_conflict", existing_resource_id: first.id } } },
  });
  ok(await admin.post(`/channels/${id}/feeds`, { ...feed, filter_expression: "n == 1" }));
  expect(ok(await admin.get(`/channels/${id}/feeds`)).total).toBe(2);
});

test("every change of members and feeds holds for the next event", async () => {
  const { id } = ok(await admin.post("/channels", { name: "Changes" }));
  const agents = await Promise.all([1, 2, 3].map(() => newAgent(server, admin)));
  const { warnings: _, ...feed } = ok(
    await admin.post(`/channels/${id}/feeds`, { event_type_glob: "com.ch.*", filter_expression: "n == 1" }),
  );
  const expected = { id: expect.stringMatching(/^feed_/), channel_id: id, filter_expression: "n == 1" };
  expect(feed).toMatchObject(expected);
  expect(await matchedCount("ch-0", "com.ch.x")).toBe(0);
  for (const [i, agent] of agents.entries()) {
    const joined = await agent.post(`/channels/${id}/members`, {});
    expect(joined).toMatchObject({ status: 201, body: { channel_id: id, agent_id: agent.id } });
    expect(await matchedCount(`ch-joined-${i}`, "com.ch.x")).toBe(i + 1);
  }
  const [first] = agents as [TestAgent];
  expect((await first.post(`/channels/${id}/members`)).status).toBe(200);
  const answer = ok(await admin.get(`/channels/${id}/members`));
  expect(answer).toMatchObject({ members: agents.map((agent) => ({ agent_id: agent.id })), total: 3 });
  expect((await admin.del(`/channels/${id}/members/${first.id}`)).status).toBe(204);
  expect((await admin.del(`/channels/${id}/members/${first.id}`)).status).toBe(404);
  expect(await matchedCount("ch-left", "com.ch.x")).toBe(2);
  expect(ok(await admin.get(`/channels/${id}/feeds`))).toEqual({ feeds: [feed], total: 1 });
  expect((await admin.del(`/channels/${id}/feeds/${feed.id}`)).status).toBe(204);
  expect(await matchedCount("ch-unfed", "com.ch.x")).toBe(0);
});

test("an agent that matches by interests and channels gets the event once, with all reasons", async () => {
  const agent = await newAgent(server, admin);
  const interest = ok(
    await agent.post(`/agents/${agent.id}/interests`, { event_type: "com.once.*", priority: 3 }),
  );
  const feeds = [];
  for (const name of ["Once A", "Once B"]) {
    const { id } = ok(await agent.post("/channels", { name }));
    ok(await agent.post(`/channels/${id}/members`));
    feeds.push(ok(await agent.post(`/channels/${id}/feeds`, { event_type_glob: "com.once.x" })).id);
  }
  expect(await matchedCount("once", "com.once.x")).toBe(1);
  const [delivery] = await receive(agent, 1);
  expect(delivery.matched.interest_ids).toEqual([interest.id]);
  expect(delivery.matched.feed_ids.sort()).toEqual(feeds.sort());
});

describe("refusals change nothing", () => {
  test("a name is there once", async () => {
    const first = ok(await admin.post("/channels", { name: "Taken" }));
    const other = ok(await admin.post("/channels", { name: "Free" }));
    for (const answer of [
      await admin.post("/channels", { name: "Taken" }),
      await admin.patch(`/channels/${other.id}`, { name: "Taken" }),
    ])
      await refused(answer, "conflict", { existing_resource_id: first.id });
    expect(ok(await admin.get(`/channels/${other.id}`)).name).toBe("Free");
  });

  test.each([
    ["feeds", { event_type_glob: "[a" }, 400, "validation_error"],
    ["feeds", { event_type_glob: "a", filter_expression: "((" }, 400, "validation_error"],
    ["feeds", {}, 400, "validation_failed"],
    ["members", { agent_id: "nonsense" }, 400, "validation_error"],
    ["members", { agent_id: "ag_absent" }, 404, "not_found"],
  ])("%s %j", async (what, body, status, code) => {
    const { channels } = ok(await admin.get("/channels"));
    const path = `/channels/${channels[0].id}/${what}`;
    const before = ok(await admin.get(path));
    const answer = await admin.post(path, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(ok(await admin.get(path))).toEqual(before);
  });

  test("a user is no agent to join, but may add one", async () => {
    const { id } = ok(await orgAdmin.post("/channels", { name: "Of a user" }));
    const { status, body } = await orgAdmin.post(`/channels/${id}/members`);
    expect([status, body.error.details.field]).toEqual([400, "agent_id"]);
    expect((await orgAdmin.post(`/channels/${id}/members`, { agent_id: admin.id })).status).toBe(201);
  });
});
