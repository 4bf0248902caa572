/** @needs mongodb, nats: of several nodes one does each piece of upkeep, and another when that one dies. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Document, MongoClient } from "mongodb";
import { newId } from "../../lib/ids.ts";
import { positionFrom } from "../../services/sense/events/position.ts";
import { cloudEvent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { type Watch, watchMongo } from "../support/mongo-watch.ts";
import { onNodes } from "../support/on-nodes.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { metricsOf } from "../support/worker.ts";

const WORKERS = 3;
/** How often the owner of a sweep is seen at work: those in its stead look far less often meanwhile. */
const SWEEPS = 16;
const IN_ITS_STEAD = 4;
/** Limit of the statements of all workers at rest in a while. */
const MOST_AT_REST = 40;
const WATCHED_MS = 30_000;
const TENANTS = 12;
const OLD_EVENTS = 250;
/** 200 and then 50. */
const BATCHES = 2;
const DAY_MS = 86_400_000;

/** A worker, and what it asks of the record. */
type Watched = { child: Child; watch: Watch; commands: Document[] };

const isDueSweep = ({ find, filter }: Document) => find === "deliveries" && filter.due_at?.$lte;
const isReplaySweep = ({ find, filter }: Document) => find === "deliveries" && filter.replay_at?.$lte;
/** Not of the driver, nor a reading of the clock. */
const isStatement = ({ hello, ismaster }: Document) => hello === undefined && ismaster === undefined;
const isDeletion = ({ delete: from }: Document) => from === "events";

await onNodes("three workers", 1, { EMBEDDER: "none" }, ({ url, nodes, admin }) => {
  const client = new MongoClient(url, { writeConcern: { w: "majority", journal: true } });
  let workers: Watched[] = [];

  beforeAll(async () => {
    const [first] = nodes.workers as [Child];
    await first.end("SIGTERM");
    workers = [await addWatched()];
    await settle(async () => (await admin.get("/agents")).status === 200);
  });
  afterAll(async () => {
    await Promise.all(workers.map(({ watch }) => watch.stop()));
    await client.close();
  });

  async function addOthers(): Promise<void> {
    workers.push(...(await Promise.all(Array.from({ length: WORKERS - 1 }, addWatched))));
    await settle(async () => (await admin.get("/agents")).status === 200);
    await client.db().collection<Document>("events").insertMany(oldEvents());
    await newReceiver(nodes.gateway, admin, "swept", { interests: ["com.swept"] });
  }

  async function addWatched(): Promise<Watched> {
    const commands: Document[] = [];
    const watch = await watchMongo(url, (command) => commands.push(command));
    return { child: await nodes.addWorker(undefined, { MONGO_URL: watch.url }), watch, commands };
  }

  function oldEvents(): Document[] {
    const old = positionFrom(Date.now() - 1000 * DAY_MS);
    return Array.from({ length: TENANTS * OLD_EVENTS }, (_, n) => {
      const _id = `evt_old_${n}`;
      const position = `${old}${String(n).padStart(12, "0")}`;
      return { _id, tenant_id: `tn_old${n % TENANTS}`, ce_id: _id, position, envelope: "{}", size: 2 };
    });
  }

  const countIn = ({ commands }: Watched, is: (command: Document) => boolean) => commands.filter(is).length;

  /** Returns the one that swept `SWEEPS` times since now, and how often the others did. */
  async function ownerOfSweep(among: Watched[], is: (command: Document) => boolean) {
    const before = among.map((each) => countIn(each, is));
    const since = () => among.map((each, i) => countIn(each, is) - (before[i] as number));
    // At rest there is nothing to look for.
    const sweeps = async () => {
      await admin.post("/events", cloudEvent(`swept ${newId("evt")}`, { type: "com.swept" }));
      return Math.max(...since()) >= SWEEPS;
    };
    await settle(sweeps, { what: "an owner to sweep" });
    const counts = since();
    const at = counts.indexOf(Math.max(...counts));
    return { owner: among[at] as Watched, others: counts.filter((_, i) => i !== at) };
  }

  /** Waits until the workers ask for so little: a while in which they ask for more is followed by another. */
  async function comeToRest(): Promise<void> {
    const asked = () => workers.reduce((sum, each) => sum + countIn(each, isStatement), 0);
    let [since, before] = [performance.now(), asked()];
    const isOver = () => {
      if (performance.now() - since < WATCHED_MS) return false;
      const count = asked() - before;
      [since, before] = [performance.now(), asked()];
      return count <= MOST_AT_REST || Promise.reject(new Error(`${count} statements`));
    };
    await settle(isOver, { within: 150_000, what: "the workers to be at rest" });
  }

  test("ask the record for little at rest", comeToRest);

  test("ask for no more at rest when they are three", async () => {
    await addOthers();
    await comeToRest();
  });

  test("have one that ends leases, and one that carries out replays", async () => {
    for (const is of [isDueSweep, isReplaySweep]) {
      const { others } = await ownerOfSweep(workers, is);
      expect(Math.max(...others)).toBeLessThanOrEqual(IN_ITS_STEAD);
    }
  });

  test("count what is pending once", async () => {
    await newReceiver(nodes.gateway, admin, "offline", { interests: ["com.pending"] });
    for (let n = 0; n < 4; n++)
      expect((await admin.post("/events", cloudEvent(`pending ${n}`, { type: "com.pending" }))).status).toBe(
        202,
      );
    const rows = client.db().collection("deliveries");
    await settle(async () => (await rows.countDocuments({ type: "com.pending" })) === 4);
    const pending = await rows.countDocuments({ state: "ready" });
    const metrics = await Promise.all(workers.map(({ child }) => metricsOf(child)));
    const ready = metrics.flatMap((text) => [
      ...text.matchAll(/^sensorium_deliveries_pending\{state="ready"\} (\d+)$/gm),
    ]);
    expect(ready.map(([, count]) => count)).toEqual([String(pending)]);
  });

  test("delete what is old together, and nothing twice", async () => {
    await settle(
      async () => (await client.db().collection("events").countDocuments({ envelope: "{}" })) === 0,
      { within: 90_000, what: "the next round of retention" },
    );
    const deletions = workers.map((each) => countIn(each, isDeletion));
    expect(deletions.reduce((sum, each) => sum + each)).toBe(TENANTS * BATCHES);
    expect(deletions.filter((each) => each > 0).length).toBeGreaterThan(1);
  });

  test("lose one: another ends its leases", async () => {
    const { owner } = await ownerOfSweep(workers, isDueSweep);
    const left = workers.filter((each) => each !== owner);
    await owner.child.end("SIGKILL");
    // The others look while nobody knows of it yet.
    await ownerOfSweep(left, isDueSweep);
    const { others } = await ownerOfSweep(left, isDueSweep);
    expect(Math.max(...others)).toBeLessThanOrEqual(IN_ITS_STEAD);
    const agent = await settle(() =>
      newReceiver(nodes.gateway, admin, "leaseholder", {
        interests: ["com.leased"],
        agent: { visibility_timeout_seconds: 5 },
      }),
    );
    await settle(
      async () => (await admin.post("/events", cloudEvent("leased", { type: "com.leased" }))).status === 202,
    );
    const poll = async () => (await agent.api.get("/delivery/poll?wait=5")).body.deliveries?.[0];
    expect(await settle(poll)).toMatchObject({ attempt_count: 1 });
    expect(await settle(poll)).toMatchObject({ attempt_count: 2 });
  });
});
