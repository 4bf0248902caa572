import { expect, test } from "@jest/globals";
import { cloudEvent } from "../support/agents.ts";
import { ingest, itself, textFile } from "../support/documents.ts";
import { api } from "../support/http.ts";
import { marker } from "../support/kept-bytes.ts";
import { agentIn, makeCast, remember } from "../support/memories.ts";
import { blobsOf, holdersOf, REMOVED } from "../support/record.ts";
import { settle } from "../support/settle.ts";
import { makeWorld, OPERATOR_TOKEN, ok } from "../support/tenancy.ts";
import { useServer } from "../support/use.ts";
import { register, SHOP, send } from "../support/webhooks.ts";

type TestAgent = Awaited<ReturnType<typeof agentIn>>;

const SCOPES = ["send", "receive", "memory:read", "memory:write"];
const env = { RATE_LIMIT_PER_MINUTE: "0", EMBEDDER: "none", PUSH_ALLOW_PRIVATE: "true", OPERATOR_TOKEN };
const server = await useServer({ env });
const cast = await makeCast(server);
const sender = await agentIn(server, cast.admin, { name: "sender" }, ["send", "receive"]);

const erase = async (body: object) => ok(await cast.orgAdmin.post("/memories/erase", body));

const heldBy = (text: string) => holdersOf(server, text);

async function schedule(by: TestAgent, data: object): Promise<string> {
  const event = { type: "com.example.tick", data };
  return ok(await by.post("/schedules", { name: "yearly", cron: "0 0 1 1 *", event })).id;
}

test("schedules about a person are erased, and no others", async () => {
  const [subject, text, other] = [`Erika ${marker()}`, marker(), marker()];
  const planned = await schedule(sender, { metadata: { subject: [subject] }, note: text });
  const stays = await schedule(sender, { note: other });
  const counted = await erase({ subject, dry_run: true });
  expect(counted.erased).toMatchObject({ schedules: 1 });
  const { erased } = await erase({ subject });
  expect(erased).toMatchObject({ schedules: 1 });
  expect((await sender.get(`/schedules/${planned}`)).status).toBe(404);
  expect((await sender.get(`/schedules/${stays}`)).status).toBe(200);
});

test("an agent's schedules, bundles and handoffs are erased with its memories", async () => {
  const agent = await agentIn(server, cast.admin, { name: "leaver" }, SCOPES);
  const text = marker();
  await schedule(agent, { note: text });
  ok(await agent.post("/handoffs", { name: "next", summary: text }));
  ok(await agent.post("/bundles", { query: text }));
  expect(await heldBy(text)).not.toEqual([]);
  const { erased } = await erase({ agent_id: agent.id });
  expect(erased).toMatchObject({ schedules: 1, handoffs: 1, bundles: 1 });
  await settle(
    async () => (await heldBy(text)).filter((name) => !name.startsWith("sensorium.db")).length === 0,
  );
});

/** The erased person, the forms of the name in texts, and the texts that others wrote. */
const ERASED: [
  what: string,
  make: (by: TestAgent) => Promise<{ target: object; name: string; subject?: string }>,
][] = [
  ["a person", async () => ({ ...named(`Zoë "${marker()}"`) })],
  ["a memory", async (by) => remember(by, {}).then(({ id }) => ({ target: { ids: [id] }, name: id }))],
  ["an agent", async (by) => ({ target: { agent_id: by.id }, name: "" })],
];
const named = (subject: string) => ({ target: { subject }, name: subject, subject });

test.each(ERASED)("no text about deliveries and runs is left that names %s", async (_, make) => {
  const own = await agentIn(server, cast.admin, { name: "writes", retry_budget: 9 }, SCOPES);
  const { target, name, subject } = await make(own);
  const texts: Record<string, string> = {};
  /** A text that is to be erased; one of the agent about an event about the person need not name it. */
  const text = (what: string, naming = name) => {
    texts[what] = marker();
    return `${texts[what]} {"at":"\\n${JSON.stringify(naming).slice(1, -1)}"}`;
  };
  ok(await own.post(`/agents/${own.id}/interests`, { event_type: "com.example.texts" }));
  const next = async (more: object = {}) => {
    ok(await sender.post("/events", cloudEvent(marker(), { type: "com.example.texts", ...more })));
    return settle(async () => ok(await own.get("/delivery/poll?limit=1&wait=1")).deliveries[0]);
  };
  const settleAs = async (how: string, more: object, event: object = {}) => {
    const { id } = await next(event);
    ok(await own.post(`/delivery/${how}`, { delivery_ids: [id], ...more }));
  };
  await settleAs("ack", { log: text("log") });
  await settleAs("nack", { reason: text("reason"), log: text("log of a rejection"), delay_seconds: 9000 });
  await settleAs("nack", { reason: text("death"), dead_letter: true });
  if (subject) await settleAs("nack", { reason: text("of an event", ""), dead_letter: true }, { subject });
  await settleAs("nack", { reason: "stays", log: `${marker()} stays`, delay_seconds: 9000 });
  const goal = name ? text("goal") : "g";
  const run = ok(
    await own.post("/runs", { goal, steps: [{ step_key: "a" }, { step_key: "b", depends_on: ["a"] }] }),
  );
  ok(await own.post(`/runs/${run.id}/steps/complete`, { step_key: "a", what_makes_this_done: text("note") }));
  ok(await own.post(`/runs/${run.id}/handoff-offers`, { step_key: "b", note: text("offer") }));
  if (name) {
    const close = { outcome: "abandoned", note: text("end") };
    ok(await cast.orgAdmin.post(`/runs/${run.id}/close`, close));
    // An event that cannot be mapped is a dead letter, with its headers.
    const hook = await register(cast.orgAdmin, { ...SHOP, source: marker() });
    await send(hook, JSON.stringify({ note: text("payload") }), { "X-Request-Id": marker() });
  }
  await settle(
    async () => ok(await cast.orgAdmin.get("/events?type=service.delivery.dead_lettered")).events.length > 0,
  );
  const leftOf = async () => {
    const held = await Promise.all(
      Object.entries(texts).map(async ([what, each]) => [what, await heldBy(each)]),
    );
    return held.filter(([, files]) => files?.length).map(([what]) => what);
  };
  expect(await leftOf()).toEqual(Object.keys(texts));
  const run_facts = name ? 3 : 2;
  // The facts of a run leave its row a moment after its change.
  const counted = await settle(async () => {
    const found = await erase({ ...target, dry_run: true });
    return found.erased.run_facts === run_facts && found;
  });
  const { erased, storage } = await erase(target);
  expect([await leftOf(), storage]).toEqual([[], REMOVED]);
  // With the event about the person, or the payload; and by an agent with what names nothing.
  const runs = { runs: 1, run_facts };
  for (const each of [counted.erased, erased])
    expect(each).toMatchObject({ deliveries: subject ? 5 : 4, ...runs });
  // The last failure, which a node has in memory for seconds.
  if (!name) expect(erased).toMatchObject({ delivery_progress: 1 });
  expect((await erase(target)).erased).not.toHaveProperty("deliveries");
  const deliveries = ok(await own.get(`/agents/${own.id}/deliveries`)).deliveries;
  const reasons = deliveries.flatMap(
    (each: { last_error: { reason: string } | null }) => each.last_error?.reason ?? [],
  );
  expect(new Set(reasons)).toEqual(new Set(name ? ["[erased]", "stays"] : ["[erased]"]));
  expect(ok(await own.get("/delivery/dlq?reason=%5Berased%5D")).items).toHaveLength(subject ? 2 : 1);
  expect(ok(await own.get(`/runs/${run.id}`))).toMatchObject({ goal: "[erased]" });
});

/** Each writes a text that names a person, and returns how it is read later, and what it shows then. */
const WORKS: Record<string, (by: TestAgent, text: string) => Promise<[path: string, shown: object]>> = {
  async "an event, in its data"(_, text) {
    const data = { note: text, list: [{ other: 12345678901234567890n.toString(), of: "stays" }] };
    const { event_id } = ok(await sender.post("/events", cloudEvent(marker(), { data })));
    const left = { note: "[erased]", list: [{ of: "stays" }] };
    return [`/events/${event_id}`, { payload: { data: left } }];
  },
  async "an output, in its text, title, tags and metadata, of all versions"(by, text) {
    const scope = "institutional";
    const first = { scope, body: `# ${text}\n\nstays`, metadata: { note: text, more: { of: "stays" } } };
    const { id } = ok(await by.post("/outputs", first));
    ok(await cast.orgAdmin.patch(`/outputs/${id}`, { tags: [text, "stays"] }));
    ok(await by.post("/outputs", { output_id: id, body: `stays\n${text}`, change_note: text }));
    const metadata = { note: "[erased]", more: { of: "stays" } };
    return [`/outputs/${id}`, { body: "stays\n[erased]", metadata, slug: expect.stringMatching(/^erased-/) }];
  },
  async "an exemplar"(by, text) {
    const given = { display_name: text, filename: `${text}.md`, content: text };
    const { id } = ok(await by.post("/exemplars", given));
    return [
      `/exemplars/${id}`,
      { display_name: "[erased]", extracted_text: expect.stringMatching(/^\[erased]/) },
    ];
  },
  async "the steps of a run, and their evidence"(by, text) {
    const pointer = { uri: "https://example.com/a", display_name: text };
    const step = { step_key: "a", instructions: text, reference_pointer: pointer, reference_note: text };
    const criteria = [
      { key: "k", description: text },
      { key: "stays", description: "stays" },
    ];
    const steps = [{ ...step, title: text, completion_criteria: criteria }, { step_key: "b" }];
    const run = ok(await by.post("/runs", { goal: "g", steps }));
    const given = { kind: "note", pointer: { uri: "https://example.com/b" }, step_record_id: null };
    const { id } = ok(await by.post(`/runs/${run.id}/artifacts`, given));
    const content_base64 = Buffer.from(`${text}\nstays`).toString("base64");
    const held = [{ artifact_id: id, content_base64, mime_type: "text/plain" }];
    ok(await by.post(`/runs/${run.id}/steps/complete`, { step_key: "b", artifact_contents: held }));
    const shown = { step_key: "a", title: "[erased]", instructions: "[erased]", reference_note: "[erased]" };
    return [`/runs/${run.id}`, { goal: "g", steps: [shown, { step_key: "b", title: "b" }] }];
  },
  async "an approval, and its answer"(by, text) {
    const ask = { title: text, question: `${text}?`, choices: [text, "other"], text_allowed: true };
    const { id } = ok(await by.post("/approvals", ask));
    ok(await cast.orgAdmin.post(`/approvals/${id}/answer`, { choice: "other", text }));
    const shown = { title: "[erased]", question: "[erased]", choices: ["[erased]", "other"] };
    return [`/approvals/${id}`, { ...shown, text: "[erased]" }];
  },
  async "a schedule, and its event"(by, text) {
    const event = { type: "com.example.tick", data: { note: text, of: "stays" } };
    const { id } = ok(await by.post("/schedules", { name: text, cron: "0 0 1 1 *", event }));
    return [`/schedules/${id}`, { name: "[erased]", event: { data: { note: "[erased]", of: "stays" } } }];
  },
  async "a handoff"(by, text) {
    const payload = { next_action: text, open_questions: ["stays"] };
    const given = { name: text, summary: text, payload, artifacts: [text, "stays"] };
    const { id } = ok(await by.post("/handoffs", given));
    const left = { next_action: "[erased]", open_questions: ["stays"] };
    return [`/handoffs/${id}`, { summary: "[erased]", payload: left, artifacts: ["[erased]", "stays"] }];
  },
  async "a bundle"(by, text) {
    const { id } = ok(await by.post("/bundles", { query: text }));
    return [`/bundles/${id}`, { query: "[erased]" }];
  },
};

/** Each text of all works, by what it is in. */
async function makeWorks(by: TestAgent, works: typeof WORKS, suffix = "") {
  const texts: [what: string, text: string][] = [];
  const shown: [path: string, shown: object][] = [];
  for (const [what, make] of Object.entries(works))
    for (const text of [marker(), marker()]) {
      texts.push([what, text]);
      shown.push(await make(by, text + suffix));
    }
  const held = async () => {
    const holders = await Promise.all(texts.map(async ([what, text]) => [what, await heldBy(text)] as const));
    return holders.flatMap(([what, files]) => (files.length > 0 ? what : []));
  };
  return { texts, shown, held };
}

test("a person's name is erased from all works", async () => {
  const own = await agentIn(server, cast.admin, { name: "works" }, SCOPES);
  const subject = `Erika ${marker()} Öztürk`;
  const { texts, shown, held } = await makeWorks(own, WORKS, ` of ${subject}`);
  const { body: other } = await own.post("/outputs", { body: `Of ${subject}son, who stays` });
  expect(await held()).toEqual(texts.map(([what]) => what));
  const counted = await erase({ subject, dry_run: true });
  const { erased, storage } = await erase({ subject });
  expect([erased, storage]).toEqual([expect.objectContaining(counted.erased), REMOVED]);
  expect(await held()).toEqual([]);
  for (const [path, expected] of shown)
    expect(ok(await (path.startsWith("/events") ? sender : own).get(path))).toMatchObject(expected);
  expect(ok(await own.get(`/outputs/${other.id}`)).body).toBe(`Of ${subject}son, who stays`);
  expect(Object.entries((await erase({ subject })).erased).filter(([, count]) => count !== 0)).toEqual([]);
  for (const [, text] of texts) {
    const found = ok(await own.post("/outputs/search", { query: text }));
    expect(JSON.stringify(found)).not.toContain(text);
  }
});

test("an agent's works are erased with it", async () => {
  const own = await agentIn(server, cast.admin, { name: "worker" }, SCOPES);
  const { "an event, in its data": _, ...works } = WORKS;
  const { held } = await makeWorks(own, works);
  const counted = await erase({ agent_id: own.id, dry_run: true });
  const { erased, storage } = await erase({ agent_id: own.id });
  expect([erased, storage]).toEqual([expect.objectContaining(counted.erased), REMOVED]);
  expect(await held()).toEqual([]);
  const again = Object.values((await erase({ agent_id: own.id })).erased);
  expect(again.filter((count) => count !== 0)).toEqual([]);
});

test("all texts of an event about a person are erased, and of what in it has the person as a value", async () => {
  const [subject, text] = [`Erika ${marker()}`, marker()];
  const publish = async (more: object) =>
    ok(await sender.post("/events", cloudEvent(marker(), { source: "https://shop", ...more }))).event_id;
  const about = await publish({ subject, data: { note: text, count: 1 } });
  const listed = await publish({
    data: {
      orders: [
        { by: subject, note: text },
        { by: "Max", note: "stays" },
      ],
    },
  });
  const encoded = await publish({
    data_base64: Buffer.from(`${text} of ${subject}`).toString("base64"),
    data: undefined,
  });
  const { erased } = await erase({ subject });
  const payloadOf = async (id: string) => ok(await sender.get(`/events/${id}`)).payload;
  const note = "[erased]";
  expect(await payloadOf(about)).toMatchObject({
    ...{ source: "https://shop", subject: note, data: { note, count: 1 } },
  });
  expect(await payloadOf(listed)).toMatchObject({
    data: {
      orders: [
        { by: note, note },
        { by: "Max", note: "stays" },
      ],
    },
  });
  expect(Buffer.from((await payloadOf(encoded)).data_base64, "base64").toString()).toBe("[erased]");
  expect(erased).toMatchObject({ events: 3 });
  expect(await heldBy(text)).toEqual([]);
});

test("a pending delivery does not show the texts of an event that were erased", async () => {
  const own = await agentIn(server, cast.admin, { name: "waits" }, ["receive"]);
  const [subject, type] = [`Erika ${marker()}`, `com.example.${marker()}`];
  ok(await own.post(`/agents/${own.id}/interests`, { event_type: type }));
  ok(await sender.post("/events", cloudEvent(marker(), { type, subject, data: { note: "n" } })));
  ok(await erase({ subject }));
  const [pending] = ok(await own.get("/delivery/poll?limit=1&wait=30")).deliveries;
  expect(pending.payload).toMatchObject({ subject: "[erased]", data: { note: "[erased]" } });
});

/** Each makes blobs, and returns how many, and what removes them. */
const BLOBS: Record<string, () => Promise<[count: number, remove: () => Promise<unknown>]>> = {
  async "a person's documents"() {
    const subject = marker();
    await ingest(cast.alice, textFile(undefined, { subject }));
    return [1, () => erase({ subject })];
  },
  async "a deleted document"() {
    const document = await ingest(cast.alice, textFile());
    return [1, async () => ok(await cast.alice.del(itself(document)))];
  },
  async "an output and its former versions"() {
    const { id: output_id } = ok(await cast.alice.post("/outputs", { body: marker() }));
    ok(await cast.alice.post("/outputs", { body: marker(), output_id }));
    return [2, async () => ok(await cast.alice.del(`/outputs/${output_id}`))];
  },
  async "an exemplar"() {
    const text = { display_name: "An example", filename: "note.md", content: marker() };
    const { id } = ok(await cast.alice.post("/exemplars", text));
    return [1, async () => ok(await cast.alice.del(`/exemplars/${id}`))];
  },
};

test.each(Object.entries(BLOBS))("no blob is left of %s", async (_, make) => {
  const { tenant_id } = server.credentials;
  const before = await blobsOf(server, tenant_id);
  const [count, remove] = await make();
  expect(await blobsOf(server, tenant_id)).toHaveLength(before.length + count);
  await remove();
  // The rows of a deletion go a moment after its answer.
  await settle(async () => (await blobsOf(server, tenant_id)).join() === before.join());
});

test("no blob is left of a tenant, with what its runs keep", async () => {
  const gone = await makeWorld(server, "gone");
  const run = ok(await gone.agent.post("/runs", { goal: "g", steps: [{ step_key: "a" }] }));
  const given = { kind: "note", pointer: { uri: "https://example.com/a" } };
  const { id } = ok(await gone.agent.post(`/runs/${run.id}/artifacts`, given));
  const held = { artifact_id: id, content_base64: "aGk=", mime_type: "text/plain" };
  ok(await gone.agent.post(`/runs/${run.id}/steps/complete`, { step_key: "a", artifact_contents: [held] }));
  await ingest(gone.agent as TestAgent, textFile());
  expect(await blobsOf(server, gone.tenant_id)).toHaveLength(2);
  const { erased } = ok(await api(server, OPERATOR_TOKEN).del(`/tenants/${gone.tenant_id}`));
  expect(erased).toMatchObject({ blobs: 2, documents: 1, run_artifacts: 1 });
  expect(await blobsOf(server, gone.tenant_id)).toEqual([]);
});
