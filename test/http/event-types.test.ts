import { expect, test } from "@jest/globals";
import { createClient } from "../../packages/client/index.ts";
import { cloudEvent, firstAgent, newAgent } from "../support/agents.ts";
import { newCli } from "../support/cli.ts";
import { type Api, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, refused, signIn } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

const server = await useShared();
const admin = await firstAgent(server);
const receiver = await newAgent(server, admin);
const { admin: user, tenant_slug } = server.credentials;
const orgAdmin = api(server, await signIn(server, user, tenant_slug));

let published = 0;
const publish = async (type: string, more: object = {}) =>
  ok(await admin.post("/events", cloudEvent(`type-${++published}`, { type, ...more })));

/** Nodes of a cluster count a few seconds later. */
async function typesWith(by: Api, search: string, count: number) {
  return settle(async () => {
    const { types } = ok(await by.get(`/events/types?search=${search}`));
    const sum = types.reduce((all: number, each: { count: number }) => all + each.count, 0);
    return sum === count && types;
  });
}

test("each type is listed with its sources, times and listeners, the latest first", async () => {
  await publish("com.list.first", { source: "/a" });
  await publish("com.list.first", { source: "/b" });
  ok(await receiver.post(`/agents/${receiver.id}/interests`, { event_type: "com.list.*" }));
  const body = { event_type: "com.list.second", filter_expression: "data.n > 5" };
  ok(await admin.post(`/agents/${admin.id}/interests`, body));
  await publish("com.list.second", { source: "/a", data: { n: 1 } });
  const [second, first] = await typesWith(orgAdmin, "LIST.", 3);
  expect(second).toMatchObject({ type: "com.list.second", count: 1, listeners: 2 });
  expect(first).toMatchObject({ type: "com.list.first", count: 2, listeners: 1 });
  expect(first.sources.map(({ source }: { source: string }) => source).sort()).toEqual(["/a", "/b"]);
  expect(first.first_seen_at <= first.last_seen_at && first.last_seen_at <= second.last_seen_at).toBe(true);
});

test("a duplicate and the service's own events are not counted", async () => {
  ok(await receiver.post(`/agents/${receiver.id}/interests`, { event_type: "service.run.*" }));
  const event = cloudEvent("once", { type: "com.dup.once" });
  ok(await admin.post("/events", event));
  expect(ok(await admin.post("/events", event)).status).toBe("duplicate");
  ok(await admin.post("/runs", { goal: "g", steps: [{ step_key: "a" }] }));
  await settle(async () => ok(await admin.get("/events?type=service.run.*")).events.length > 0);
  expect(await typesWith(admin, "dup", 1)).toHaveLength(1);
  expect(ok(await admin.get("/events/types?search=service.run")).types).toEqual([]);
});

test("a type's page names who listens, and its latest event", async () => {
  const type = "com.detail/50% *[x]";
  const channel = ok(await admin.post("/channels", { name: "Details" }));
  ok(await admin.post(`/channels/${channel.id}/members`));
  const feed = ok(await admin.post(`/channels/${channel.id}/feeds`, { event_type_glob: "com.detail/*" }));
  const of = { event_type: "com.detail/*" };
  const interest = ok(await receiver.post(`/agents/${receiver.id}/interests`, of));
  const idle = await newAgent(server, admin);
  ok(await idle.post(`/agents/${idle.id}/interests`, of));
  ok(await admin.patch(`/agents/${idle.id}/status`, { status: "inactive" }));
  await publish(type, { data: { n: 1 } });
  const { event_id } = await publish(type, { data: { n: 2 } });
  await typesWith(admin, "detail", 2);
  const path = `/events/types/${encodeURIComponent(type)}`;
  const listening = [
    { agent_id: receiver.id, interest_ids: [interest.id], feed_ids: [] },
    { agent_id: admin.id, interest_ids: [], feed_ids: [feed.id] },
  ];
  const shown = ok(await orgAdmin.get(path));
  expect(shown).toMatchObject({ type, count: 2, listeners: 2 });
  expect(shown.listening).toEqual(expect.arrayContaining(listening));
  expect(shown.listening).toHaveLength(2);
  expect(shown.last_event).toMatchObject({ event_id, payload: { type, data: { n: 2 } } });
  // Another agent sees itself, and the event as soon as it was given it.
  const own = await settle(async () => {
    const answer = ok(await receiver.get(path));
    return answer.last_event && answer;
  });
  expect(own).toMatchObject({ listeners: 2, listening: [listening[0]], last_event: { event_id } });
  const other = await newAgent(server, admin);
  expect(ok(await other.get(path))).toMatchObject({ listeners: 2, listening: [], last_event: null });
  await refused(admin.get("/events/types/com.never"), "not_found", {
    resource_type: "event_type",
    resource_id: "com.never",
  });
});

test("at most ten sources of a type are kept, with their latest times", async () => {
  for (let i = 0; i < 12; i++) await publish("com.sources.many", { source: `/source/${i}` });
  await typesWith(admin, "sources", 12);
  await publish("com.sources.many", { source: "/source/3" });
  await publish("com.sources.many", { source: "/source/99" });
  const [{ sources }] = await typesWith(admin, "sources", 14);
  expect(sources).toHaveLength(10);
  expect(sources[0].source).toBe("/source/3");
  expect(sources.map(({ source }: { source: string }) => source)).not.toContain("/source/99");
});

test("all pages have each type once, for clients too", async () => {
  const names = Array.from({ length: 7 }, (_, i) => `com.paged.t${i}`);
  for (const name of names) await publish(name);
  await typesWith(admin, "paged", 7);
  const client = createClient({ url: server.root, apiKey: server.credentials.agent.api_key });
  const seen: string[] = [];
  for await (const { type } of client.events.types.all({ search: "paged", limit: 3 })) seen.push(type);
  expect(seen.toSorted()).toEqual(names);
  expect(await admin.get("/events/types?cursor=x")).toMatchObject({ status: 400 });
});

test("the command line lists types and shows one", async () => {
  await publish("com.shell.seen", { source: "/shell", data: { order_id: 42 } });
  await typesWith(admin, "shell", 1);
  await using cli = newCli({
    SENSORIUM_URL: server.root,
    SENSORIUM_API_KEY: server.credentials.agent.api_key,
  });
  expect(await cli.done("event", "types", "--search", "shell")).toMatch(
    /TYPE +LAST SEEN +EVENTS +LISTENERS +SOURCE\ncom\.shell\.seen +\S.* +1 +0 +\/shell/,
  );
  expect(await cli.done("event", "types", "--search", "unheard")).toBe("No event types.");
  expect(await cli.done("event", "types", "com.shell.seen")).toMatch(/Listeners +0\n[\s\S]*"order_id": 42/);
  const ran = await cli.run(["event", "types", "com.never"]);
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("com.never") });
});
