import { createHmac, hash } from "node:crypto";
import { unavailable } from "../../lib/contract/faults.ts";
import type { Actor, Cast } from "./cast.ts";

export const NAME = "Northwind (demonstration)";

/** The parts of the story, and the console's page of each. */
export const MADE = [
  { what: "5 agents of an online shop", path: "/agents" },
  { what: "a webhook of its carrier, which has sent a parcel", path: "/ingest" },
  { what: "9 events: delivered, pending, and without a receiver", path: "/events" },
  { what: "a dead letter, to look into and replay", path: "/dead-letters" },
  { what: "7 memories, one of them in three versions", path: "/memories" },
  { what: "a handbook to search", path: "/documents" },
  { what: "a run with a step in progress", path: "/runs" },
  { what: "a question with evidence, which waits for you", path: "/approvals" },
  { what: "a handoff between two sessions", path: "/handoffs" },
];

const PERSON = "Ada Moreno";
const DAY_MS = 86_400_000;
const ORDER = "com.northwind.order.placed";

interface Agents {
  shop: Actor;
  billing: Actor;
  warehouse: Actor;
  support: Actor;
  marketing: Actor;
}

/** Tells the story, or the rest of one that was interrupted. */
export async function tellStory(cast: Cast): Promise<void> {
  const { admin } = cast;
  const { users } = await admin.does("people", "users.list");
  if (users.some(({ display_name }: { display_name: string }) => display_name === PERSON)) return;
  const agents = await hire(cast);
  await trade(cast, agents);
  const memories = await remember(agents);
  await file(cast, agents.support);
  await launch(agents.marketing);
  await ask(agents.support, memories);
  await cast.see();
  await admin.does("guidance", "onboarding.dismiss");
  // Last: says that the story is whole.
  await admin.does("person", "users.update", { user_id: admin.id, display_name: PERSON });
}

async function hire(cast: Cast): Promise<Agents> {
  const { admin } = cast;
  const subscribe = ({ id: agent_id }: Actor, event_type: string, filter_expression: string | null = null) =>
    admin.does(`${event_type} ${agent_id}`, "interests.create", { agent_id, event_type, filter_expression });
  const shop = cast.firstAgent;
  await admin.does("agent shop", "agents.update", {
    ...{ agent_id: shop.id, name: "web-shop", description: "Publishes what customers do." },
  });
  const billing = await cast.hire("billing", "Writes invoices for orders over 100 EUR.");
  const warehouse = await cast.hire("warehouse", "Packs orders and hands parcels to the carrier.");
  const support = await cast.hire("support", "Answers customers; asks people before it refunds.");
  const marketing = await cast.hire("marketing", "Launches products, step by step.", false);
  await subscribe(billing, "com.northwind.order.*", "data.total > 100");
  await subscribe(warehouse, ORDER);
  await subscribe(warehouse, "com.carrier.parcel.*");
  await subscribe(support, "com.northwind.review.*");
  return { shop, billing, warehouse, support, marketing };
}

const ORDERS = [
  { id: 1841, total: 64.5, sku: "lamp-07", quantity: 1 },
  { id: 1842, total: 249.9, sku: "lamp-12", quantity: 2 },
  { id: 1843, total: 38, sku: "bulb-e27", quantity: 4 },
  { id: 1844, total: 89, sku: "lamp-99", quantity: 1 },
  { id: 1845, total: 410, sku: "lamp-31", quantity: 5 },
  { id: 1846, total: 86.2, sku: "lamp-07", quantity: 1 },
];
/** The one that cannot be packed. */
const LOST = "lamp-99";
const MOST_ROUNDS = 100;

/** Orders are billed and packed, but for one; a parcel arrives; a review waits, and a newsletter is nobody's. */
async function trade(cast: Cast, { shop, billing, warehouse }: Agents): Promise<void> {
  const published: string[] = [];
  const publish = async (type: string, id: string, subject: string, data: object) => {
    const event = { specversion: "1.0", id, source: "https://shop.northwind.example", type, subject, data };
    const { event_id } = await shop.does(`event ${id}`, "events.publish", { event });
    return event_id as string;
  };
  for (const { id, total, sku, quantity } of ORDERS)
    published.push(
      await publish(ORDER, `order-${id}`, `order-${id}`, {
        total,
        currency: "EUR",
        items: [{ sku, quantity }],
      }),
    );
  published.push(await arrive(cast));
  await publish("com.northwind.review.posted", "review-77", "lamp-12", {
    ...{
      stars: 2,
      text: "One of the two lamps arrived broken. I would like my money back.",
      order: "order-1842",
    },
  });
  await publish("com.northwind.newsletter.opened", "newsletter-2211", "customer-5501", {
    campaign: "autumn",
  });
  await receive(cast, [billing, warehouse], published);
}

/** The carrier delivers a signed webhook. */
async function arrive(cast: Cast): Promise<string> {
  const signing_secret = hash("sha256", cast.seed("carrier"), "hex");
  await cast.admin.does("webhook", "ingest.create_webhook", {
    ...{ name: "Carrier", source: "carrier", signing_secret },
    mapping: { entity: "parcel", action: "/status", id: "/id", subject: "/order" },
  });
  const parcel = { id: "parcel-9001-1", status: "handed_over", order: "order-1841", tracking: "NW9001" };
  const body = JSON.stringify(parcel);
  const { event_id } = await cast.admin.does("parcel", "ingest.receive_from", {
    ...{ tenant_slug: cast.slug, source: "carrier", raw: Buffer.from(body).toString("base64") },
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
        for (const { id, payload } of (JSON.parse(answer) as { deliveries: Delivery[] }).deliveries)
          await settle(agent, id, payload.data.items?.some(({ sku }) => sku === LOST) ?? false);
      }
    }
  }
}

async function settle(agent: Actor, id: string, isLost: boolean): Promise<void> {
  if (!isLost) return void (await agent.does("ack", "deliveries.ack", { delivery_ids: [id] }));
  await agent.does("nack", "deliveries.nack", {
    ...{ delivery_ids: [id], dead_letter: true },
    reason: `the stock service does not know ${LOST}`,
    log: `pack order-1844\n  looking up ${LOST} … 404 Not Found\n[ended with 1]`,
  });
}

interface Memories {
  policy: string;
  refunds: string;
}

async function remember({ support, warehouse }: Agents): Promise<Memories> {
  const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
  const keep = async (who: Actor, beat: string, memory: object): Promise<string> =>
    (
      await who.does(`memory ${beat}`, "memories.create", {
        type: "semantic",
        scope: "institutional",
        ...memory,
      })
    ).id;
  const title = "How long customers can return a lamp";
  const first = await keep(support, "policy 1", {
    ...{ title, content: "Customers can return a lamp within 14 days of its delivery.", tags: ["returns"] },
    ...{ valid_from: daysAgo(300), importance: 0.8, confidence: 0.9 },
  });
  const second = await keep(support, "policy 2", {
    ...{ title, content: "Customers can return a lamp within 30 days of its delivery.", tags: ["returns"] },
    ...{ valid_from: daysAgo(120), importance: 0.8, confidence: 0.9 },
    ...{ supersedes_id: first, reason: "The shop joined the trusted-seller programme." },
  });
  const policy = await keep(support, "policy 3", {
    title,
    content:
      "Customers can return a lamp within 60 days of its delivery. Broken lamps can be returned at any time.",
    ...{ tags: ["returns"], valid_from: daysAgo(20), importance: 0.8, confidence: 0.9 },
    ...{ supersedes_id: second, reason: "Decided in the autumn review, for the holidays." },
  });
  const refunds = await keep(support, "refunds", {
    ...{ type: "procedural", title: "Refunding an order", tags: ["returns", "refunds"], importance: 0.7 },
    valid_from: daysAgo(210),
    content:
      "Check the delivery date against the returns policy. Up to 50 EUR, refund at once. Above, ask a person and attach " +
      "the policy and the customer's message. Then tell billing to correct the invoice.",
  });
  const carrier = await keep(warehouse, "carrier", {
    ...{ title: "The carrier does not collect on Saturdays", tags: ["carrier"], importance: 0.6 },
    ...{ subject: "carrier", valid_from: daysAgo(160) },
    content: "Parcels that are packed after Friday 16:00 leave on Monday.",
  });
  const fragile = await keep(warehouse, "fragile", {
    ...{ type: "reflection", title: "Two glass shades in one box break", tags: ["packing"], importance: 0.6 },
    ...{ subject: "lamp-12", valid_from: daysAgo(45) },
    content: "Three of five broken lamp-12 were packed two in a box. Pack each shade by itself.",
  });
  await keep(support, "customer", {
    ...{
      type: "entity",
      title: "Inês Duarte prefers Portuguese",
      tags: ["customers"],
      subject: "customer-5501",
      valid_from: daysAgo(75),
    },
    content: "Inês Duarte, who ordered order-1842, writes and reads in Portuguese.",
  });
  const relate = (who: Actor, id: string, target_memory_id: string) =>
    who.does(`relate ${id} ${target_memory_id}`, "relationships.create", {
      ...{ id, target_memory_id, relationship_type: "related_to", strength: 0.8 },
    });
  await relate(support, refunds, policy);
  await relate(warehouse, fragile, carrier);
  await relate(support, policy, fragile);
  return { policy, refunds };
}

const HANDBOOK = `# Handbook of the support team

## Returns
Customers write to support with the number of their order. Ask for a picture if a lamp is broken. The returns policy is a
memory of the support agent, since it changes: search for "how long can customers return a lamp".

## Refunds
Refunds up to 50 EUR need nobody. Larger ones are approved by a person, in the console or by e-mail. An unanswered
question is a rejection after two days, and support then calls the customer.

## Parcels
The carrier collects from Monday to Friday at 16:30. Glass shades are packed one in a box.
`;

async function file(cast: Cast, support: Actor): Promise<void> {
  await cast.withFile(HANDBOOK, (file_content) =>
    support.does("handbook", "documents.upload", {
      ...{
        file_content,
        filename: "support-handbook.md",
        mime_type: "text/markdown",
        sensitivity: "internal",
      },
    }),
  );
}

/** A run with two steps done, one in progress, and the rest of it waiting. */
async function launch(marketing: Actor): Promise<void> {
  const step = (step_key: string, title: string, depends_on: string[], role: string) => ({
    ...{ step_key, title, depends_on, role, completion_mode: "attestation" },
  });
  const template = await marketing.does("template", "templates.author", {
    ...{ name: "Product launch", slug: "product-launch" },
    description: "From the first text to the shop's front page.",
    steps: [
      step("brief", "Write the brief", [], "marketing"),
      step("photos", "Take the photos", ["brief"], "studio"),
      step("text", "Write the product page", ["brief"], "marketing"),
      step("price", "Check price and stock", ["brief"], "warehouse"),
      step("approve", "Approve the page", ["photos", "text", "price"], "lead"),
      step("publish", "Publish it", ["approve"], "web-shop"),
    ],
  });
  const run = await marketing.does("run", "runs.create", {
    ...{ goal: "Launch the reading lamp lamp-44 before December", template_id: template.id },
  });
  const run_id = run.id;
  const start = (step_key: string, notes: string) =>
    marketing.does(`start ${step_key}`, "runs.start_step", { run_id, step_key, notes });
  const complete = (step_key: string, what_makes_this_done: string) =>
    marketing.does(`complete ${step_key}`, "runs.complete_step", { run_id, step_key, what_makes_this_done });
  await start("brief", "From the notes of the product team.");
  await complete("brief", "Audience, three claims and the price are in the brief.");
  await start("photos", "Warm light, on a desk.");
  await complete("photos", "Six photos, two with a reader.");
  await start("text", "First draft is written; the dimensions are missing.");
  await marketing.does("handoff", "handoffs.save", {
    ...{ name: "lamp-44-page", origin_client: "claude-code" },
    summary: "The product page of lamp-44 is written but for its dimensions. The photos are chosen.",
    payload: {
      next_action: "Ask the warehouse for the dimensions, then complete the step `text`.",
      completed: ["Brief", "Photos"],
      remaining: ["Dimensions", "Price and stock"],
      decisions: [{ title: "Lead with the warm light", rationale: "The price changes in December." }],
    },
  });
}

async function ask(support: Actor, { policy, refunds }: Memories): Promise<void> {
  const { events } = await support.does("review", "events.list", {
    limit: 1,
    type: "com.northwind.review.*",
  });
  const [review] = events;
  await support.does("question", "approvals.ask", {
    title: "Refund 124.95 EUR for order-1842?",
    question:
      "One of the two lamps arrived **broken**. The order is within the returns policy.\n\n" +
      "- Order: 249.90 EUR for two lamps\n- Refund: 124.95 EUR, one lamp\n- The customer would like the money, not another lamp.",
    evidence: [
      ...(review ? [{ kind: "event", id: review.event_id }] : []),
      { kind: "memory", id: policy },
      { kind: "memory", id: refunds },
    ],
    ...{ subject: "order-1842", deadline_seconds: 2 * 86_400, on_deadline: "reject" },
  });
}
