/** @needs mongodb, nats: routing tables of many interests outlive the loss of nodes, and follow changes at others. */
import { beforeAll, expect, test } from "@jest/globals";
import { MongoClient } from "mongodb";
import type { InterestDoc } from "../../services/sense/interests/interests.model.ts";
import { USUAL } from "../../services/sense/interests/routing-table.ts";
import { cloudEvent, newAgent, receive, type TestAgent } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { onNodes } from "../support/on-nodes.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";
import { metricsOf } from "../support/worker.ts";

const INTERESTS = 30_000;
const CHUNK = 5_000;

/** Counts of a worker's routing tables. */
type Done = { loads: number; catchUps: number };

await onNodes("nodes that match 30,000 interests", 2, {}, ({ url, nodes, admin }) => {
  let other: TestServer;
  let agent: TestAgent;

  beforeAll(async () => {
    // So early that all others know it by the time at which it is killed.
    other = await nodes.addServer(["gateway"]);
    agent = await newAgent(nodes.gateway, admin);
    // Before any table is read: as they were created long ago.
    await insertInterests();
    // Any of two workers takes an event: until both have.
    await settle(async () => {
      await publish("com.many.0");
      return (await Promise.all(nodes.workers.map(doneBy))).every(({ loads }) => loads > 0);
    });
  });

  async function insertInterests(): Promise<void> {
    const client = new MongoClient(url, { writeConcern: { w: "majority", journal: true } });
    const interests = client.db().collection<InterestDoc>("interests");
    const { tenant_id } = nodes.gateway.credentials;
    const at = new Date();
    const crowd = await newAgent(nodes.gateway, admin);
    const common = { tenant_id, filter_expression: null, priority: 5, created_at: at, updated_at: at };
    for (let from = 0; from < INTERESTS; from += CHUNK) {
      const ids = Array.from({ length: CHUNK }, (_, i) => from + i);
      const rows = ids.map((n) => ({
        ...{ ...common, ...USUAL, conflict_key: `many ${n}` },
        ...{ _id: `int_many${n}`, event_type: `com.many.${n}` },
        agent_id: n === INTERESTS - 1 ? agent.id : crowd.id,
      }));
      await interests.insertMany(rows);
    }
    await client.close();
  }

  async function doneBy(worker: Child): Promise<Done> {
    const text = await metricsOf(worker);
    const value = (name: string) =>
      Number(new RegExp(`^sensorium_${name}_total (\\d+)`, "m").exec(text)?.[1]);
    return { loads: value("routing_loads"), catchUps: value("routing_catch_ups") };
  }

  let published = 0;
  /** Publishes until an event is accepted; gives its id. */
  async function publish(type: string): Promise<string> {
    const id = `routed-${published++}`;
    await settle(async () => (await admin.post("/events", cloudEvent(id, { type }))).status < 300);
    return id;
  }

  /** Publishes and receives until a worker has found that a node failed, and has seen to its tables. */
  async function deliverUntilNoticed(worker: Child, before: Done): Promise<void> {
    const what = "the worker to notice that a node failed";
    await settle(
      async () => {
        const id = await publish(`com.many.${INTERESTS - 1}`);
        const received = await receive(agent, 1);
        expect(received.map(({ payload }) => payload.id)).toContain(id);
        const { loads, catchUps } = await doneBy(worker);
        return loads + catchUps > before.loads + before.catchUps;
      },
      { what },
    );
  }

  test("a gateway is killed: deliveries go on from the tables that are there, each read again once", async () => {
    const before = await Promise.all(nodes.workers.map(doneBy));
    await other.kill();
    for (const [i, worker] of nodes.workers.entries()) await deliverUntilNoticed(worker, before[i] as Done);
    const after = await Promise.all(nodes.workers.map(doneBy));
    expect(after.map(({ loads }) => loads)).toEqual(before.map(({ loads }) => loads + 1));
  });

  test("an interest that one worker acknowledged holds at the other", async () => {
    const before = await Promise.all(nodes.workers.map(doneBy));
    for (let n = 0; n < 6; n++) {
      const type = `com.fresh.${n}`;
      const { id } = ok(await agent.post(`/agents/${agent.id}/interests`, { event_type: type }));
      const ids = [await publish(type), await publish(type), await publish(type)];
      const received = await receive(agent, ids.length);
      expect(received.map(({ payload }) => payload.id).sort()).toEqual(ids.sort());
      ok(await agent.del(`/agents/${agent.id}/interests/${id}`));
    }
    const after = await Promise.all(nodes.workers.map(doneBy));
    expect(after.map(({ loads }) => loads)).toEqual(before.map(({ loads }) => loads));
  });

  test("a worker is killed: the other delivers from the table that it has, and reads it again once", async () => {
    const [killed, left] = nodes.workers as [Child, Child];
    // Until both have certainly read what the last test changed.
    for (let n = 0; n < 20; n++) await publish("com.many.0");
    const before = await doneBy(left);
    await killed.end("SIGKILL");
    await deliverUntilNoticed(left, before);
    expect((await doneBy(left)).loads).toBe(before.loads + 1);
  });
});
