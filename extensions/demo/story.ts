import { createHmac, hash } from "node:crypto";
import { unavailable } from "../../lib/contract/faults.ts";
import { DAY_MS } from "../../lib/time.ts";
import type { Actor, Cast } from "./cast.ts";
import story from "./story.json" with { type: "json" };

/** The name of the organisation, and the parts of the story with the console's page of each. */
export const { name: NAME, made: MADE } = story;

const MOST_ROUNDS = 100;

/** Returns an agent by its name in the story. */
type Agents = (name: string) => Actor;

/** Tells the story, or the rest of one that was interrupted. */
export async function tellStory(cast: Cast): Promise<void> {
  const { admin } = cast;
  const { users } = await admin.does("people", "users.list");
  if (users.some(({ display_name }: { display_name: string }) => display_name === story.person)) return;
  const agents = await hire(cast);
  await trade(cast, agents);
  const memories = await remember(agents);
  const handbook = { filename: "support-handbook.md", mime_type: "text/markdown", sensitivity: "internal" };
  await cast.withFile(story.handbook.join("\n"), (file_content) =>
    agents("support").does("handbook", "documents.upload", { file_content, ...handbook }),
  );
  await launch(agents("marketing"));
  await ask(agents("support"), memories);
  await cast.see();
  await admin.does("guidance", "onboarding.dismiss");
  // Last: says that the story is whole.
  await admin.does("person", "users.update", { user_id: admin.id, display_name: story.person });
}

async function hire(cast: Cast): Promise<Agents> {
  const { admin, firstAgent } = cast;
  await admin.does("agent shop", "agents.update", { agent_id: firstAgent.id, ...story.shop });
  const agents = new Map([[story.shop.name, firstAgent]]);
  for (const { name, description, interests } of story.agents) {
    const agent = await cast.hire(name, description, interests.length > 0);
    agents.set(name, agent);
    for (const interest of interests)
      await admin.does(`${interest.event_type} ${agent.id}`, "interests.create", {
        agent_id: agent.id,
        ...interest,
      });
  }
  return (name) => agents.get(name) as Actor;
}

/** Orders are billed and packed, but for one; a parcel arrives; a review waits, and a newsletter is nobody's. */
async function trade(cast: Cast, agents: Agents): Promise<void> {
  const shop = agents(story.shop.name);
  const publish = async (fields: { id: string; type: string; subject: string; data: object }) => {
    const event = { specversion: "1.0", source: "https://shop.northwind.example", ...fields };
    const { event_id } = await shop.does(`event ${fields.id}`, "events.publish", { event });
    return event_id as string;
  };
  const published: string[] = [];
  for (const { id, ...order } of story.orders) {
    const data = { ...order, currency: "EUR" };
    published.push(await publish({ id, type: "com.northwind.order.placed", subject: id, data }));
  }
  published.push(await arrive(cast));
  for (const event of story.others) await publish(event);
  await receive(cast, [agents("billing"), agents("warehouse")], published);
}

/** The carrier delivers a signed webhook. */
async function arrive(cast: Cast): Promise<string> {
  const { admin, slug } = cast;
  const { source } = story.carrier;
  const signing_secret = hash("sha256", cast.seed("carrier"), "hex");
  await admin.does("webhook", "ingest.create_webhook", { ...story.carrier, signing_secret });
  const body = JSON.stringify(story.parcel);
  const { event_id } = await admin.does("parcel", "ingest.receive_from", {
    ...{ tenant_slug: slug, source, raw: Buffer.from(body).toString("base64") },
    headers: { "x-service-signature": createHmac("sha256", signing_secret).update(body).digest("hex") },
  });
  return event_id;
}

interface Delivery {
  id: string;
  payload: { data: { items?: { sku: string }[] } };
}

/** Has agents settle some events, until nothing of them is pending. */
async function receive({ admin }: Cast, agents: Actor[], event_ids: string[]): Promise<void> {
  for (const event_id of event_ids) {
    const isPending = async () =>
      (await admin.does("look", "events.get", { event_id })).outcome === "pending";
    for (let round = 0; await isPending(); round++) {
      if (round === MOST_ROUNDS)
        throw unavailable("Events are not delivered at the moment. Retry in a minute.");
      for (const agent of agents) {
        // The service answers in JSON.
        const answer = await agent.does("poll", "deliveries.poll", { limit: 10, wait: 0.2 });
        for (const delivery of (JSON.parse(answer) as { deliveries: Delivery[] }).deliveries)
          await settle(agent, delivery);
      }
    }
  }
}

/** Acknowledges a delivery, but of the order that cannot be packed. */
async function settle(agent: Actor, { id, payload }: Delivery): Promise<void> {
  const delivery_ids = [id];
  const { sku, ...failure } = story.lost;
  if (payload.data.items?.some((item) => item.sku === sku))
    await agent.does("nack", "deliveries.nack", { delivery_ids, dead_letter: true, ...failure });
  else await agent.does("ack", "deliveries.ack", { delivery_ids });
}

/** Returns the ids of the memories by their keys in the story. */
async function remember(agents: Agents): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { key, by, daysAgo, supersedes, memory } of story.memories) {
    const { id } = await agents(by).does(`memory ${key}`, "memories.create", {
      ...{ type: "semantic", scope: "institutional", ...memory },
      valid_from: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
      ...(supersedes && { supersedes_id: ids.get(supersedes) }),
    });
    ids.set(key, id);
  }
  for (const { by, from, to } of story.relationships) {
    const [id, target_memory_id] = [ids.get(from), ids.get(to)];
    await agents(by).does(`relate ${id} ${target_memory_id}`, "relationships.create", {
      ...{ id, target_memory_id, relationship_type: "related_to", strength: 0.8 },
    });
  }
  return ids;
}

/** A run with two steps done, one in progress, and the rest of it waiting. */
async function launch(marketing: Actor): Promise<void> {
  const { steps, ...described } = story.template;
  const template = await marketing.does("template", "templates.author", {
    ...described,
    steps: steps.map((step) => ({ ...step, completion_mode: "attestation" })),
  });
  const { goal } = story;
  const { id: run_id } = await marketing.does("run", "runs.create", { goal, template_id: template.id });
  for (const { step_key, notes, what_makes_this_done } of story.progress) {
    await marketing.does(`start ${step_key}`, "runs.start_step", { run_id, step_key, notes });
    if (!what_makes_this_done) continue;
    const completed = { run_id, step_key, what_makes_this_done };
    await marketing.does(`complete ${step_key}`, "runs.complete_step", completed);
  }
  await marketing.does("handoff", "handoffs.save", story.handoff);
}

async function ask(support: Actor, memories: Map<string, string>): Promise<void> {
  const latest = { limit: 1, type: "com.northwind.review.*" };
  const { events } = await support.does("review", "events.list", latest);
  const [review] = events;
  await support.does("question", "approvals.ask", {
    ...story.question,
    evidence: [
      ...(review ? [{ kind: "event", id: review.event_id }] : []),
      ...["policy 3", "refunds"].map((key) => ({ kind: "memory", id: memories.get(key) })),
    ],
  });
}
