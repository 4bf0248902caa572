import { describe, expect, test } from "@jest/globals";
import { newCli } from "../support/cli.ts";
import { deliveryGround, pollNow, pollSome, useGround } from "../support/deliveries.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { type Api, api, type Json } from "../support/http.ts";
import { pagesOf } from "../support/pages.ts";
import { newReceiver, type Receiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";

const ground = await useGround("open");

let names = 0;
/** Creates an agent and an event type for it. */
async function newOne(options: Omit<ReceiverOptions, "interests"> = {}) {
  const type = `com.example.health${++names}`;
  const of = { interests: [type], ...options };
  return { ...(await newReceiver(ground.server, ground.admin, type, of)), type };
}

type One = Receiver & { type: string };

async function publish({ type }: One, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await ground.publish(type, { i }, { subject: `order/${i}` });
}

const healthOf = async ({ id }: One): Promise<Json> =>
  ok(await ground.admin.get(`/agents/${id}?include=delivery`)).delivery;

async function needing(query = ""): Promise<string[]> {
  const { agents } = ok(await ground.admin.get(`/agents?needs_attention=true&limit=200${query}`));
  return agents.map(({ id }: { id: string }) => id);
}

async function deliveriesOf({ id }: One, query = "", as: Api = ground.admin): Promise<Json> {
  return ok(await as.get(`/agents/${id}/deliveries${query}`));
}

/** Returns the health of the agent as soon as it is so. */
const healthWhen = (one: One, expected: object) =>
  settle(async () => {
    const health = await healthOf(one);
    expect(health).toMatchObject(expected);
    return health;
  });
const pendingOf = (one: One, pending: number) => healthWhen(one, { pending });

describe("the health of an agent", () => {
  test("is stuck when deliveries wait and nothing is acknowledged, and well again after", async () => {
    const one = await newOne();
    await publish(one, 2);
    expect(await healthWhen(one, { state: "stuck" })).toMatchObject({
      reason: expect.stringMatching(
        /^The oldest pending delivery is \d+ s old, and nothing was acknowledged since\.$/,
      ),
      ...{ pending: 2, in_flight: 0, dead: 0, last_acknowledged_at: null, last_error: null },
    });
    expect(await settle(async () => (await needing()).includes(one.id))).toBe(true);
    const delivery_ids: string[] = (await pollSome(one.api)).map(({ id }) => id);
    expect((await healthOf(one)).in_flight).toBe(2);
    ok(await one.api.post("/delivery/ack", { delivery_ids }));
    const well = await healthWhen(one, { last_acknowledged_at: expect.anything() });
    expect(well).toMatchObject({ state: "ok", reason: null, pending: 0, last_seen_at: expect.any(String) });
    await settle(async () => !(await needing()).includes(one.id));
  });

  test("is failing after a dead letter, with the last error, until it is replayed", async () => {
    const one = await newOne({ agent: { retry_budget: 1 } });
    await publish(one, 1);
    const [{ id }] = await pollSome(one.api);
    ok(await one.api.post("/delivery/nack", { delivery_ids: [id], reason: "billing is closed" }));
    const failing = await healthWhen(one, { last_error: expect.anything() });
    expect(failing).toMatchObject({
      ...{ state: "failing", dead: 1, last_error: { at: expect.any(String), reason: "billing is closed" } },
    });
    expect(await settle(async () => (await needing()).includes(one.id))).toBe(true);
    const other = await newOne();
    expect(ok(await ground.admin.post("/delivery/dlq/replay", { agent_id: other.id })).count).toBe(0);
    expect(ok(await ground.admin.post("/delivery/dlq/replay", { agent_id: one.id })).count).toBe(1);
    const [again] = await pollSome(one.api);
    ok(await one.api.post("/delivery/ack", { delivery_ids: [again.id] }));
    const well = await healthWhen(one, { state: "ok" });
    // One attempt failed, the other was acknowledged.
    expect(well.success_rate).toBe(0.5);
  });

  test("is unreachable while its endpoint is, and saving the endpoint tries it at once", async () => {
    const endpoint = await startEndpoint();
    await endpoint.stop();
    const settings = { delivery_mode: "push", delivery_endpoint: endpoint.url };
    const one = await newOne({ agent: settings });
    await publish(one, 1);
    expect(await healthWhen(one, { state: "unreachable" })).toMatchObject({
      reason: expect.stringContaining("The endpoint has not been reached for"),
      pending: 1,
      last_error: { reason: expect.any(String) },
    });
    expect((await settle(async () => (await needing()).includes(one.id) && needing()))[0]).toBe(one.id);
    // The next try by itself would be seconds away, later up to an hour.
    await endpoint.start();
    ok(await ground.admin.patch(`/agents/${one.id}`, { delivery_endpoint: endpoint.url }));
    await settle(() => endpoint.pushed[0]);
    await settle(async () => (await healthOf(one)).state === "ok");
    await endpoint.stop();
  });

  test("is quiet before it was ever seen", async () => {
    const { id } = ok(await ground.admin.post("/agents", { name: "unborn", delivery_mode: "poll" }));
    const { delivery } = ok(await ground.admin.get(`/agents/${id}?include=delivery`));
    expect(delivery).toMatchObject({ state: "quiet", reason: "Not seen yet.", last_seen_at: null });
    expect(ok(await ground.admin.get(`/agents/${id}`))).not.toHaveProperty("delivery");
  });
});

describe("the list of agents", () => {
  test("has those that need attention first, page by page", async () => {
    const [stuck, well] = [await newOne(), await newOne()];
    await publish(stuck, 1);
    await settle(async () => (await needing()).includes(stuck.id));
    const all: string[] = [];
    let total = 1;
    while (all.length < total) {
      const page = ok(await ground.admin.get(`/agents?sort=attention&limit=2&offset=${all.length}`));
      total = page.total;
      all.push(...page.agents.map(({ id }: { id: string }) => id));
    }
    expect(new Set(all).size).toBe(total);
    const first = await needing();
    expect(all.slice(0, first.length)).toEqual(first);
    expect(all.indexOf(stuck.id)).toBeLessThan(all.indexOf(well.id));
    expect(await needing(`&search=${stuck.type}`)).toEqual([stuck.id]);
  });
});

describe("an agent's deliveries", () => {
  test("are listed newest first across states and priorities, page by page", async () => {
    const one = await newOne();
    ok(await one.api.post(`/agents/${one.id}/interests`, { event_type: `${one.type}.urgent`, priority: 9 }));
    for (let i = 0; i < 3; i++) {
      await ground.publish(one.type, { i });
      await ground.publish(`${one.type}.urgent`, { i });
      await pendingOf(one, 2 * i + 2);
    }
    const [taken] = await pollSome(one.api, "limit=1");
    ok(await one.api.post("/delivery/ack", { delivery_ids: [taken.id] }));
    const listed = await pagesOf(ground.admin, `/agents/${one.id}/deliveries?limit=2`, "deliveries");
    expect(listed).toHaveLength(6);
    const times = listed.map(({ created_at }) => created_at);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(listed.find(({ id }) => id === taken.id)?.status).toBe("acknowledged");
    const { deliveries } = await deliveriesOf(one, "?status=pending");
    expect(deliveries.map(({ status }: { status: string }) => status)).toEqual(Array(5).fill("ready"));
    expect((await one.api.get(`/agents/${one.id}/deliveries?cursor=no`)).status).toBe(400);
  });

  test("show their event, attempts, next attempt and last error", async () => {
    const one = await newOne();
    await publish(one, 1);
    const [{ id, event_id }] = await pollSome(one.api);
    const nack = { delivery_ids: [id], reason: "billing is closed", delay_seconds: 600 };
    ok(await one.api.post("/delivery/nack", nack));
    const { deliveries } = await deliveriesOf(one, "?status=waiting");
    expect(deliveries).toEqual([
      {
        ...{ id, status: "waiting" },
        ...{ event: { event_id, type: one.type, source: "urn:test", subject: "order/0" }, attempt_count: 1 },
        next_attempt_at: expect.any(String),
        last_error: { at: expect.any(String), reason: "billing is closed" },
        created_at: expect.any(String),
        timeline: [
          { at: expect.any(String), what: "handed_out" },
          { at: expect.any(String), what: "nacked", reason: "billing is closed" },
        ],
      },
    ]);
    expect(Date.parse(deliveries[0].next_attempt_at)).toBeGreaterThan(Date.now() + 500_000);
  });

  test("can be drained: what waits is gone for good, what is in flight and dead stays", async () => {
    const one = await newOne({ agent: { retry_budget: 1 } });
    await publish(one, 4);
    await pendingOf(one, 4);
    const [dying] = await pollSome(one.api, "limit=1");
    ok(await one.api.post("/delivery/nack", { delivery_ids: [dying.id] }));
    const [held] = await pollSome(one.api, "limit=1");
    const old = "2020-01-01T00:00:00.000Z";
    const none = ok(await ground.admin.post(`/agents/${one.id}/deliveries:drain`, { before: old }));
    expect(none).toEqual({ discarded: 0, in_flight: 1, before: old, more: false });
    const drained = ok(await ground.admin.post(`/agents/${one.id}/deliveries:drain`));
    expect(drained).toMatchObject({ discarded: 2, in_flight: 1, more: false });
    expect(await pollNow(one.api)).toEqual([]);
    expect(await healthOf(one)).toMatchObject({ pending: 1, in_flight: 1, dead: 1 });
    expect(ok(await one.api.post("/delivery/ack", { delivery_ids: [held.id] }))).toEqual({ acknowledged: 1 });
    const { deliveries } = await deliveriesOf(one, "?status=discarded");
    expect(deliveries[0].timeline.at(-1)).toMatchObject({ what: "discarded", reason: "drained" });
    const { entries } = ok(await ground.admin.get("/audit?action=deliveries.drain"));
    const expected = { resource_id: one.id, outcome: "done", details: { agent_id: one.id, discarded: 2 } };
    expect(entries[0]).toMatchObject(expected);
  });

  test("are for the agent, its owner and admins; draining is not for the agent", async () => {
    const { server } = ground;
    const { admin: founder, tenant_slug } = server.credentials;
    const orgAdmin = api(server, await signIn(server, founder, tenant_slug));
    const invite = async (name: string) => {
      const invited = ok(await orgAdmin.post("/users", { email: `${name}@health.example` }));
      return { id: invited.id as string, api: api(server, await signIn(server, invited, tenant_slug)) };
    };
    const [owner, stranger] = [await invite("owner"), await invite("stranger")];
    const one = await newOne({ agent: { owner_user_id: owner.id } });
    const other = await newOne();
    await publish(one, 1);
    await pendingOf(one, 1);
    expect((await deliveriesOf(one, "", one.api)).deliveries).toHaveLength(1);
    expect((await deliveriesOf(one, "", owner.api)).deliveries).toHaveLength(1);
    for (const each of [stranger.api, other.api])
      expect(await each.get(`/agents/${one.id}/deliveries`)).toMatchObject({ status: 403 });
    for (const each of [stranger.api, other.api, one.api])
      expect(await each.post(`/agents/${one.id}/deliveries:drain`)).toMatchObject({ status: 403 });
    const own = ok(await owner.api.get("/auth/me/agents?include=delivery"));
    expect(own.agents).toMatchObject([{ id: one.id, delivery: { pending: 1 } }]);
    expect(ok(await owner.api.post(`/agents/${one.id}/deliveries:drain`)).discarded).toBe(1);
  });
});

test("on the command line many agents with the same reason are one line, unless each is wanted", async () => {
  const of = { interests: ["com.idle"] };
  const own = await deliveryGround("open");
  const { url, credentials } = own.server;
  const cli = newCli({ SENSORIUM_URL: url, SENSORIUM_API_KEY: credentials.agent.api_key });
  const list = async (...options: string[]) =>
    (await cli.done("agent", "list", "--attention", ...options)).split("\n");
  const stuckAgents = (count: number) =>
    settle(async () => {
      const { agents } = ok(await own.admin.get("/agents?needs_attention=true&include=delivery"));
      const states = agents.map((each: { delivery: { state: string } }) => each.delivery.state);
      return states.filter((state: string) => state === "stuck").length === count;
    });
  const receivers = [];
  for (const name of ["north", "east", "south"])
    receivers.push(await newReceiver(own.server, own.admin, name, of));
  await own.publish("com.idle");
  await stuckAgents(3);
  expect(await list()).toHaveLength(1 + 3);

  receivers.push(await newReceiver(own.server, own.admin, "west", of));
  await own.publish("com.idle");
  await stuckAgents(4);
  const [header, line, ...others] = await list();
  expect(header).toMatch(/^ID +STATE +PENDING +OLDEST +DEAD +NAME/);
  expect(line).toMatch(/^4 agents +stuck +7 +\d+ s +0 +have not been seen for \d+ s \(--each lists them\)/);
  expect(others).toEqual([]);
  const each = (await list("--each")).slice(1).join("\n");
  for (const { id } of receivers) expect(each).toContain(id);
  const json = JSON.parse((await list("--json")).join(""));
  expect(json.map(({ id }: { id: string }) => id).sort()).toEqual(receivers.map(({ id }) => id).sort());
  await cli.remove();
  await own.server.stop();
});
