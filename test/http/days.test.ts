/** Changes over days, on a server whose clock is set. */
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { type Api, agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok, signIn } from "../support/tenancy.ts";
import { useAlone } from "../support/use.ts";
import { order, register, SHOP, send } from "../support/webhooks.ts";

const DAY = 86_400;
const TYPE = "com.example.habit";
const clock = `--import ${join(import.meta.dirname, "../support/skewed-clock.mjs")}`;
const env = { NODE_OPTIONS: clock, CLOCK_STEP_MS: String(DAY * 1000) };
const server = await useAlone({ env: { ...env, RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none" } });

/** Tokens end meanwhile. */
const as = async (key: string): Promise<Api> => api(server, await agentToken(server, key));
const admin = () => as(server.credentials.agent.api_key);

let days = 0;
async function nextDay(): Promise<void> {
  days += 1;
  process.kill(server.pid(), "SIGUSR2");
  await settle(() => server.logs().split("the clock is set").length - 1 === days);
}

async function newAgent(name: string, agent: object = {}) {
  const asAdmin = await admin();
  const { id } = ok(await asAdmin.post("/agents", { name, delivery_mode: "poll", ...agent }));
  const { key } = ok(await asAdmin.post(`/agents/${id}/keys`, { scopes: ["receive"] }));
  ok(await (await as(key)).post(`/agents/${id}/interests`, { event_type: TYPE }));
  const take = async () => {
    const own = await as(key);
    const { deliveries } = ok(await own.get("/delivery/poll"));
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
    if (delivery_ids.length) ok(await own.post("/delivery/ack", { delivery_ids }));
    return delivery_ids.length as number;
  };
  return { id: id as string, take };
}

test("an agent that comes once a day is late after two days, one that never came after minutes", async () => {
  const [daily, never] = [await newAgent("daily"), await newAgent("never")];
  const healthOf = async ({ id }: { id: string }) =>
    ok(await (await admin()).get(`/agents/${id}?include=delivery`)).delivery;
  const needing = async () => {
    const { agents } = ok(await (await admin()).get("/agents?needs_attention=true"));
    return agents.map(({ name }: { name: string }) => name);
  };
  expect((await healthOf(daily)).late_after_seconds).toBe(300);
  for (let visit = 0; visit < 3; visit++) {
    await daily.take();
    await nextDay();
  }
  await daily.take();
  const known = await settle(async () => {
    const health = await healthOf(daily);
    return health.late_after_seconds > 300 && health;
  });
  expect(Math.round(known.late_after_seconds / DAY)).toBe(2);
  expect((await healthOf(never)).late_after_seconds).toBe(300);

  const event = { specversion: "1.0", type: TYPE, source: "urn:test", id: "habit" };
  ok(await (await admin()).post("/events", event));
  await settle(async () => (await healthOf(daily)).pending === 1 && (await healthOf(never)).pending === 1);
  await nextDay();
  expect(await healthOf(daily)).toMatchObject({ state: "ok", reason: null, pending: 1 });
  expect(await healthOf(never)).toMatchObject({ state: "stuck", pending: 1 });
  expect(await needing()).toEqual(["never"]);

  await nextDay();
  await nextDay();
  const stuck = { state: "stuck", reason: expect.stringContaining("The oldest pending delivery is 3 d old") };
  expect(await healthOf(daily)).toMatchObject(stuck);
  await settle(async () => (await needing()).includes("daily"), {
    what: "the daily agent to need attention",
  });

  expect(await daily.take()).toBe(1);
  await settle(async () => (await healthOf(daily)).state === "ok");
  // Events are pushed whether it asks or not.
  const endpoint = "https://agent.example.com/";
  const push = { delivery_mode: "push", delivery_endpoint: endpoint };
  ok(await (await admin()).patch(`/agents/${daily.id}`, push));
  expect((await healthOf(daily)).late_after_seconds).toBe(300);
});

test("the log of a webhook says which previous secret signed, and when it ended", async () => {
  const { admin: person, tenant_slug } = server.credentials;
  const signedIn = async () => api(server, await signIn(server, person, tenant_slug));
  const before = await signedIn();
  const hook = await register(before, SHOP);
  const { previous_ends_at } = ok(await before.post(`/ingest/webhooks/${hook.id}:rotate`, {}));
  await nextDay();
  await nextDay();
  const after = await signedIn();
  let reason: string | undefined;
  await settle(async () => {
    expect((await send(hook, order())).status).toBe(401);
    const { requests } = ok(await after.get(`/ingest/webhooks/${hook.id}/requests`));
    reason = requests[0]?.reason;
    return reason !== undefined;
  });
  expect(reason).toBe(`signed with the previous secret, which ended at ${previous_ends_at}`);
});
