import { expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent, type TestAgent } from "../support/agents.ts";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok, refused } from "../support/tenancy.ts";
import { useShared } from "../support/use.ts";

let events = 0;

const server = await useShared();
const admin = await firstAgent(server);

/** An agent with an interest, and its deliveries. */
async function receiver(own = admin) {
  const type = `com.example.logged.n${++events}`;
  const agent = await newAgent(server, own);
  ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type }));
  const publish = async () => ok(await own.post("/events", cloudEvent(`e${++events}`, { type }))).event_id;
  const next = () =>
    settle(async () => ok(await agent.get("/delivery/poll?wait=1")).deliveries[0], { what: "a delivery" });
  const path = (id: string) => `/agents/${agent.id}/deliveries/${id}/log`;
  const log = async (id: string, as: Pick<TestAgent, "get"> = agent) => ok(await as.get(path(id))).log;
  return { agent, publish, next, path, log };
}

test("a log is kept with a delivery, acknowledged, rejected or dead-lettered; that of the newest attempt", async () => {
  const { agent, publish, next, path, log } = await receiver();
  await publish();
  const first = await next();
  const { id, lease } = first;
  expect(ok(await agent.get(path(id)))).toEqual({ log: null, logged_at: null });
  const nack = { delivery_ids: [id], lease, delay_seconds: 0, log: "first\n[ended with 1]" };
  expect(ok(await agent.post("/delivery/nack", nack))).toMatchObject({ nacked: 1 });
  expect(await log(id)).toBe("first\n[ended with 1]");
  const second = await next();
  // An attempt that has ended changes nothing.
  ok(await agent.post("/delivery/nack", { ...nack, log: "too late" }));
  expect(await log(id)).toBe("first\n[ended with 1]");
  const odd = '<script>alert(1)</script>\u0000\u001b[31mred\u001b[0m😀 "\\ \u202e\n';
  const dead = { delivery_ids: [id], lease: second.lease, dead_letter: true, log: odd };
  expect(ok(await agent.post("/delivery/nack", dead))).toMatchObject({ dead_lettered: 1 });
  expect(ok(await admin.get(path(id)))).toEqual({ log: odd, logged_at: expect.stringMatching(/^20.*Z$/) });
  const listed = [`/agents/${agent.id}/deliveries`, "/delivery/dlq", `/events/${first.event_id}`];
  for (const list of listed) expect(JSON.stringify(ok(await agent.get(list)))).not.toContain("alert(1)");
  ok(await admin.post(`/delivery/dlq/${id}/replay`));
  const third = await next();
  expect(third.id).toBe(id);
  const ack = { delivery_ids: [id], log: "third" };
  expect(ok(await agent.post("/delivery/ack", ack))).toEqual({ acknowledged: 1 });
  expect(await log(id)).toBe("third");
  // It is settled.
  expect(ok(await agent.post("/delivery/ack", { ...ack, log: "again" }))).toEqual({ acknowledged: 0 });
  expect(await log(id)).toBe("third");
});

test("only the agent, who owns it and admins read it, and only the agent writes it", async () => {
  const world = await makeWorld(server, "logs-of-others");
  const mine = await receiver();
  const event_id = await mine.publish();
  const { id } = await mine.next();
  const other = await newAgent(server, admin);
  for (const caller of [other, world.agent, world.admin]) {
    const answer = await caller.post("/delivery/ack", { delivery_ids: [id], log: "not mine" });
    expect(answer).not.toMatchObject({ body: { acknowledged: 1 } });
    await caller.post("/delivery/nack", { delivery_ids: [id], log: "not mine", dead_letter: true });
  }
  expect(await mine.log(id)).toBeNull();
  ok(await mine.agent.post("/delivery/ack", { delivery_ids: [id], log: "mine" }));
  await refused(other.get(mine.path(id)), "forbidden");
  for (const stranger of [world.admin, world.agent, world.member])
    await refused(stranger.get(mine.path(id)), "not_found");
  await refused(admin.get(mine.path(`dlv_${"0".repeat(20)}`)), "not_found");
  // A delivery of another agent is not found under this one.
  await refused(other.get(`/agents/${other.id}/deliveries/${id}/log`), "not_found");
  expect(await mine.log(id, admin)).toBe("mine");
  const theirs = await receiver({ id: world.agentId, token: world.agentToken, ...world.agent });
  await theirs.publish();
  const owned = await theirs.next();
  ok(await theirs.agent.post("/delivery/ack", { delivery_ids: [owned.id], log: "theirs" }));
  await refused(world.member.get(theirs.path(owned.id)), "forbidden");
  const owner_user_id = ok(await world.member.get("/auth/me")).user.id;
  ok(await world.admin.patch(`/agents/${theirs.agent.id}`, { owner_user_id }));
  expect(await theirs.log(owned.id, world.member)).toBe("theirs");
  expect(ok(await admin.get(`/events/${event_id}`)).deliveries).toMatchObject({ acknowledged: 1 });
});

test("a log belongs to one delivery and has a limit; it is refused before anything is settled", async () => {
  const { agent, publish, next, log } = await receiver();
  await publish();
  const { id, lease } = await next();
  const longest = "é".repeat(16_384);
  for (const settles of ["ack", "nack"]) {
    const refused = [
      { delivery_ids: [id, "dlv_00000000000000000000"], log: "of two" },
      { delivery_ids: [], log: "of none" },
      { delivery_ids: [id], log: `${longest}é` },
      { delivery_ids: [id], log: 7 },
    ];
    for (const body of refused) {
      const { status, body: answer } = await agent.post(`/delivery/${settles}`, body);
      expect([status, answer]).toMatchObject([400, { error: { details: { field: "log" } } }]);
    }
    const unknown = await agent.post(`/delivery/${settles}`, { delivery_ids: [id], logs: "misspelt" });
    expect(unknown).toMatchObject({ status: 400, body: { error: { details: { field: "logs" } } } });
  }
  const next_ = await agent.post("/delivery/next", { ack: { delivery_ids: [id], log: "x" } });
  expect(next_).toMatchObject({ status: 400, body: { error: { details: { field: "ack.log" } } } });
  const found = ok(await agent.post("/delivery/nack", { delivery_ids: [id], lease, log: longest }));
  expect(found).toMatchObject({ nacked: 1 });
  expect(await log(id)).toBe(longest);
});

test("a log, a reason and the notice of a dead letter are kept without what looks like a secret", async () => {
  const { agent, publish, next, log } = await receiver();
  await publish();
  const { id } = await next();
  const secret = '{\\"token\\":\\"abc\\"} Set-Cookie: sid=1; Path=/';
  ok(
    await agent.post("/delivery/nack", {
      ...{ delivery_ids: [id], dead_letter: true, reason: secret, log: `Digest a=b\n${secret}` },
    }),
  );
  const kept = '{\\"token\\":[redacted]} Set-Cookie: [redacted]';
  expect(await log(id)).toBe(`Digest [redacted]\n${kept}`);
  expect(ok(await agent.get("/delivery/dlq")).items).toMatchObject([{ dlq_reason: kept }]);
  const notice = async () => {
    const [latest] = ok(await admin.get("/events?type=service.delivery.dead_lettered&limit=1")).events;
    return latest ? JSON.stringify(ok(await admin.get(`/events/${latest.event_id}`))) : "";
  };
  await settle(async () => (await notice()).includes(id));
  expect(await notice()).toContain(`"dlq_reason":${JSON.stringify(kept)}`);
});

test("over the quota it is not kept, and counted below it; it goes with its agent", async () => {
  const world = await makeWorld(server, "logs-full");
  const own = { id: world.agentId, token: world.agentToken, ...world.agent };
  const { agent, publish, next, path, log } = await receiver(own);
  await publish();
  const before = ok(await world.admin.get("/stats")).storage.used_bytes;
  const { id } = await next();
  ok(await agent.post("/delivery/ack", { delivery_ids: [id], log: "a".repeat(16_384) }));
  const counted = async () => ok(await world.admin.get("/stats")).storage.used_bytes - before >= 16_384;
  await settle(counted, { what: "the log to be counted" });
  await publish();
  const late = await next();
  ok(await world.agent.post("/outputs", { body: "# Full\n".padEnd(1_200_000, "full ") }));
  ok(await api(server, OPERATOR_TOKEN).patch(`/tenants/${world.tenant_id}`, { storage_quota_mb: 1 }));
  const answer = ok(await agent.post("/delivery/ack", { delivery_ids: [late.id], log: "more" }));
  expect(answer).toEqual({ acknowledged: 1 });
  expect(await log(late.id)).toBeNull();
  expect(await log(id)).toHaveLength(16_384);
  ok(await world.admin.del(`/agents/${agent.id}`));
  await refused(world.admin.get(path(id)), "not_found");
});
