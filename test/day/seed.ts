import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

/** How much the tenant of the day has. */
export type Size = { agents: number; events: number; dead: number; memories: number; runs: number };

const WHOLE: Size = { agents: 100, events: 50_000, dead: 2_000, memories: 10_000, runs: 40 };

/** The day's tenant, at this share of its whole size. */
export function sizeOf(share: number): Size {
  const part = (count: number, least: number) => Math.max(least, Math.round(count * share));
  return {
    ...{ agents: part(WHOLE.agents, 12), events: part(WHOLE.events, 400), dead: part(WHOLE.dead, 40) },
    memories: part(WHOLE.memories, 60),
    runs: part(WHOLE.runs, 8),
  };
}

/** An agent whose endpoint first answered 503, and then went away; `endpoint` is where it should be pushed to. */
export type Broken = { id: string; name: string; endpoint: Endpoint; dead: number; pending: number };

export interface Day {
  server: TestServer;
  admin: Api;
  /** Broken in the same way: one is fixed in the browser, the other in the shell. */
  billing: Broken;
  shipping: Broken;
  template: string;
  close(): Promise<void>;
}

/** Shares of the dead letters: two causes by push, three by a nack. */
const CAUSES = { billing: 0.45, shipping: 0.3 };
const NACKED: [reason: string, share: number][] = [
  ["the stock service did not respond", 0.12],
  ["the order has no customer number", 0.08],
  ["the printer is offline", 0.05],
];

const AREAS = ["order", "invoice", "parcel", "stock", "return", "customer"];
const VERBS = ["created", "changed", "approved", "sent", "closed"];
const TYPES = AREAS.flatMap((area) => VERBS.map((verb) => `com.northwind.${area}.${verb}`));
const BATCH = 100;

/** Fills the tenant through the API alone, as its agents would. @param say prints the progress */
export async function seedDay(server: TestServer, size: Size, say: (line: string) => void): Promise<Day> {
  await using opened = new AsyncDisposableStack();
  const login = ok(await api(server).post("/auth/login", server.credentials.admin));
  const admin = api(server, login.access_token);
  const first = api(server, await agentToken(server, server.credentials.agent.api_key));
  const part = (share: number) => Math.ceil(size.dead * share);
  const billing = await startBroken(server, admin, "billing", part(CAUSES.billing));
  opened.defer(() => billing.endpoint.stop());
  const shipping = await startBroken(server, admin, "shipping", part(CAUSES.shipping));
  opened.defer(() => shipping.endpoint.stop());
  say(`${billing.dead + shipping.dead} dead letters by push`);
  const warehouse = await newReceiver(server, admin, "warehouse", {
    ...{ interests: ["com.northwind.warehouse"], agent: { retry_budget: 1 } },
  });
  for (const [reason, share] of NACKED) await refuse(warehouse, first, reason, part(share));
  say("and by three agents' refusals");
  const receivers = await manyReceivers(server, admin, size.agents - 4);
  await publishAndReceive(first, receivers, size.events, say);
  await remember(first, size.memories, say);
  const template = await beginRuns(admin, size.runs);
  say(`${size.runs} runs`);
  const open = opened.move();
  return { server, admin, billing, shipping, template, close: () => open.disposeAsync() };
}

/** Its endpoint answers 503 to the first deliveries, which die at once, and is then gone while more are pending. */
async function startBroken(server: TestServer, admin: Api, name: string, dead: number): Promise<Broken> {
  const wrong = await startEndpoint();
  wrong.answer(503);
  const type = `com.northwind.${name}`;
  const settings = { delivery_mode: "push", delivery_endpoint: wrong.url, retry_budget: 1 };
  const { id } = await newReceiver(server, admin, name, { interests: [type], agent: settings });
  await publish(admin, type, dead);
  const health = async () => ok(await admin.get(`/agents/${id}?include=delivery`)).delivery;
  await settle(async () => (await health()).dead === dead, { within: 600_000, every: 200 });
  await wrong.stop();
  const pending = Math.ceil(dead / 5);
  await publish(admin, type, pending);
  await settle(async () => (await health()).state === "unreachable", { within: 60_000, every: 200 });
  return { id, name, endpoint: await startEndpoint(), dead, pending };
}

/** Publishes this many events, in batches; a later call for the same type goes on with other ids. */
async function publish(who: Api, type: string, count: number): Promise<void> {
  const at = performance.now();
  for (let from = 0; from < count; from += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) =>
      eventOf(type, `${at}-${from + i}`, from + i),
    );
    ok(await who.post("/events", events, { "Content-Type": "application/cloudevents-batch+json" }));
  }
}

const eventOf = (type: string, id: string, n: number) => ({
  ...{ specversion: "1.0", id: `${type}-${id}`, source: "https://shop.northwind.example", type },
  ...{ subject: `order-${10_000 + n}`, data: { total: (n * 37) % 900, currency: "EUR", lines: 1 + (n % 5) } },
});

/** Publishes events that the agent rejects permanently. */
async function refuse(
  { api: agent }: Receiver,
  publisher: Api,
  reason: string,
  count: number,
): Promise<void> {
  await publish(publisher, "com.northwind.warehouse", count);
  for (let left = count; left > 0; ) {
    const { deliveries } = ok(await agent.get(`/delivery/poll?wait=30&limit=${Math.min(left, BATCH)}`));
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
    if (delivery_ids.length > 0) ok(await agent.post("/delivery/nack", { delivery_ids, reason }));
    left -= delivery_ids.length;
  }
}

/** Agents that take turns with the types. */
async function manyReceivers(server: TestServer, admin: Api, count: number): Promise<Receiver[]> {
  const receivers: Receiver[] = [];
  for (let i = 0; i < count; i++) {
    const type = TYPES[i % TYPES.length] as string;
    const name = `${type.split(".").slice(2).join(" ")} ${1 + Math.floor(i / TYPES.length)}`;
    const agent = { description: `Follows ${type}` };
    receivers.push(await newReceiver(server, admin, name, { interests: [type], agent }));
  }
  return receivers;
}

async function publishAndReceive(
  publisher: Api,
  receivers: Receiver[],
  count: number,
  say: (line: string) => void,
): Promise<void> {
  const types = TYPES.slice(0, receivers.length);
  const portion = Math.max(types.length, 5_000);
  for (let done = 0; done < count; done += portion) {
    const some = Math.min(portion, count - done);
    for (const [i, type] of types.entries()) await publish(publisher, type, share(some, types.length, i));
    await Promise.all(receivers.map(receiveAll));
    say(`${done + some} of ${count} events published and received`);
  }
}

/** Returns the size of one of `parts` parts of a whole. */
const share = (whole: number, parts: number, at: number) =>
  Math.floor(whole / parts) + (at < whole % parts ? 1 : 0);

async function receiveAll({ api: agent }: Receiver): Promise<void> {
  for (;;) {
    const { deliveries } = ok(await agent.get(`/delivery/poll?wait=1&limit=${BATCH}`));
    if (deliveries.length === 0) return;
    const delivery_ids = deliveries.map(({ id }: { id: string }) => id);
    ok(await agent.post("/delivery/ack", { delivery_ids }));
  }
}

const FACTS = ["pays within 14 days", "orders on Mondays", "wants invoices by post", "has a new warehouse"];
const MEMORY_TYPES = ["semantic", "episodic", "procedural"];
const WRITERS = 8;

async function remember(agent: Api, count: number, say: (line: string) => void): Promise<void> {
  let next = 0;
  const write = async () => {
    for (let n = next++; n < count; n = next++) {
      const customer = `Customer ${10_000 + Math.floor(n / FACTS.length)}`;
      const title = `${customer} ${FACTS[n % FACTS.length]}`;
      const content = `${title}, as seen in order ${n * 7} and confirmed by phone on day ${n % 365}.`;
      const type = MEMORY_TYPES[n % MEMORY_TYPES.length];
      ok(await agent.post("/memories", { title, content, type, scope: "institutional" }));
      if ((n + 1) % 2_500 === 0) say(`${n + 1} of ${count} memories`);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

const attested = { completion_mode: "attestation" };
const STEPS = [
  { step_key: "timeline", title: "Write the timeline", ...attested },
  { step_key: "cause", title: "Name the cause", depends_on: ["timeline"], ...attested },
  { step_key: "actions", title: "Agree on actions", depends_on: ["cause"], ...attested },
];

/** Runs of one template, in every state. Returns its slug. */
async function beginRuns(admin: Api, count: number): Promise<string> {
  const slug = "postmortem";
  const template = ok(await admin.post("/process-templates", { name: "Postmortem", slug, steps: STEPS }));
  for (let n = 0; n < count; n++) {
    const { id } = ok(await admin.post("/runs", { goal: `Outage ${n + 1}`, template_id: template.id }));
    for (const { step_key } of STEPS.slice(0, n % 4)) {
      ok(await admin.post(`/runs/${id}/steps/start`, { step_key }));
      ok(await admin.post(`/runs/${id}/steps/complete`, { step_key }));
    }
    if (n % 8 === 7) ok(await admin.post(`/runs/${id}/close`, { outcome: "achieved" }));
  }
  return slug;
}
