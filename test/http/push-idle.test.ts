/** @needs mongodb, nats: agents with push delivery that get nothing cost nothing each; what is ready reaches them. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Document, MongoClient } from "mongodb";
import { cloudEvent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import { type Watch, watchMongo } from "../support/mongo-watch.ts";
import { onNodes } from "../support/on-nodes.ts";
import { newReceiver, type Receiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { metricsOf } from "../support/worker.ts";

const AGENTS = 40;
const LOOKS = 3;
const TYPE = "com.idle";
/** Statements of the nodes to the record. */
const commands: Document[] = [];
let watch: Watch | undefined;
const watched = async (url: string) => {
  watch = await watchMongo(url, (command) => commands.push(command));
  return watch.url;
};

/** A query for ready deliveries. */
const asksForReady = ({ find, filter }: Document) =>
  find === "deliveries" && JSON.stringify(filter).includes('"ready"');

const settings = { PUSH_ALLOW_PRIVATE: "true", EMBEDDER: "none" };
await onNodes("idle push agents", { workers: 2, through: watched }, settings, ({ url, nodes, admin }) => {
  const client = new MongoClient(url, { writeConcern: { w: "majority", journal: true } });
  const agents: Receiver[] = [];
  let endpoint: Endpoint;

  beforeAll(async () => {
    endpoint = await startEndpoint();
    for (let n = 0; n < AGENTS; n++) {
      const agent = { delivery_mode: "push", delivery_endpoint: `${endpoint.url}/${n}` };
      agents.push(await newReceiver(nodes.gateway, admin, `idle ${n}`, { interests: [TYPE], agent }));
    }
    const within = 60_000;
    await settle(async () => (await targets()) === AGENTS, { within, what: "a worker for every agent" });
  });
  afterAll(async () => {
    await endpoint?.stop();
    await watch?.stop();
    await client.close();
  });

  const acknowledged = () => client.db().collection("deliveries").countDocuments({ state: "acknowledged" });

  async function targets(): Promise<number> {
    const texts = await Promise.all(nodes.workers.map(metricsOf));
    return texts
      .map((text) => Number(/^sensorium_push_targets\{[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0))
      .reduce((sum, each) => sum + each, 0);
  }

  /** Returns the paths to which an event was pushed. */
  const pushedTo = (id: string) =>
    endpoint.pushed.filter(({ body }) => JSON.parse(body).id === id).map(({ path }) => path);

  async function reachesAll(id: string): Promise<void> {
    await settle(async () => (await admin.post("/events", cloudEvent(id, { type: TYPE }))).status < 300);
    await settle(() => new Set(pushedTo(id)).size === AGENTS, { what: "a push to every agent" });
    expect(pushedTo(id)).toHaveLength(AGENTS);
  }

  test("are asked for all at once, none of them alone", async () => {
    await reachesAll("before");
    await settle(async () => (await acknowledged()) === AGENTS);
    commands.length = 0;
    const looks = () => commands.filter(asksForReady).length;
    await settle(() => looks() >= LOOKS, { within: 120_000, what: "several looks" });
    const ids = agents.map(({ id }) => id);
    const alone = commands.filter((command) => {
      const text = JSON.stringify(command);
      return ids.filter((id) => text.includes(id)).length === 1;
    });
    expect(alone).toEqual([]);
  });

  test("get at once what becomes ready", () => reachesAll("after rest"));

  test("get what became ready without a word of it", async () => {
    const rows = client.db().collection<Document>("deliveries");
    const [first] = agents as [Receiver];
    const known = await settle(() => rows.findOne({ agent_id: first.id, state: "acknowledged" }));
    const back = { $set: { state: "ready", attempt_count: 0 }, $unset: { retire_at: 1 } };
    await rows.updateOne({ _id: known._id }, back);
    const { event_id } = known;
    const event = await client.db().collection<Document>("events").findOne({ _id: event_id });
    const id = JSON.parse(event?.envelope).id;
    await settle(() => pushedTo(id).filter((path) => path === "/hook/0").length === 2, { within: 60_000 });
  });

  test("get what a killed node was to push, and a retry that is due later", async () => {
    let refused = 0;
    endpoint.answer((_, res) => {
      refused++;
      res.writeHead(503, { "retry-after": "2" }).end();
    });
    await settle(async () => (await admin.post("/events", cloudEvent("later", { type: TYPE }))).status < 300);
    await settle(() => refused >= AGENTS);
    const [dying] = nodes.workers as [Child, Child];
    await dying.end("SIGKILL");
    endpoint.answer(204);
    const wanted = 3 * AGENTS;
    await settle(async () => (await acknowledged()) === wanted, {
      within: 90_000,
      what: "every push to arrive",
    });
  });
});
