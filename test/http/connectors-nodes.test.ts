/** @needs mongodb, nats, rabbitmq: a connector on two workers; one dies. */

import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { connect } from "amqplib";
import { receive } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { onNodes } from "../support/on-nodes.ts";
import { sendTo, startRabbit, type TestRabbit } from "../support/rabbitmq.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const QUEUE = "shared";
const MESSAGES = 200;
const started = await startRabbit();
const rabbit = started as TestRabbit;
const settings = { CONNECTOR_ALLOW_PRIVATE: "true" };

await onNodes(
  "a connector on two workers",
  { workers: 2, isHere: "url" in started },
  settings,
  ({ nodes, admin }) => {
    beforeAll(() => sendTo(rabbit, QUEUE, []));
    afterAll(() => rabbit.stop());

    async function consumers(): Promise<number> {
      const connection = await connect(rabbit.url);
      try {
        const channel = await connection.createChannel();
        return (await channel.checkQueue(QUEUE)).consumerCount;
      } finally {
        await connection.close();
      }
    }

    test("both consume its messages; the other takes over from one that dies; neither consumes while paused", async () => {
      const receiver = await newReceiver(nodes.gateway, admin, "receiver", { interests: ["com.shared.*"] });
      const mapping = { entity: "order", action: "placed", id: "/n" };
      const broker = { name: "Shared", kind: "amqp091", url: rabbit.url, queue: QUEUE, source: "shared" };
      const { id } = ok(await admin.post("/ingest/connectors", { ...broker, mapping, prefetch: 10 }));
      const fields = { what: "a consumer on each worker" };
      await settle(async () => (await consumers()) === 2, fields);
      const numbers = Array.from({ length: MESSAGES }, (_, n) => n);
      const messages = numbers.map((n) => ({ body: { n } }));
      const sending = sendTo(rabbit, QUEUE, messages);
      const taken = new Set<number>();
      const take = async () => {
        for (const { payload } of await receive(receiver.api, 0)) taken.add(payload.data.n);
        return taken.size;
      };
      await settle(async () => (await take()) > 0);
      await (nodes.workers[0] as Child).end("SIGKILL");
      await sending;
      await settle(async () => (await take()) === MESSAGES, { within: 60_000, what: "every message" });
      await settle(async () => (await consumers()) === 1, { what: "the dead one to be gone" });
      const path = `/ingest/connectors/${id}`;
      // A worker reports its state after starting.
      await settle(async () => ok(await admin.get(path)).state === "consuming", {
        what: "it to be consumed",
      });
      ok(await admin.patch(path, { paused: true }));
      await settle(async () => (await consumers()) === 0, { what: "nobody to take any" });
      expect((await admin.del(path)).status).toBe(204);
    });
  },
);
