import { describe, expect, test } from "@jest/globals";
import { connect, type Options } from "amqplib";
import type { BrokerMessage, BrokerSource, Connector } from "../../connectors/connector.ts";
import type { Verdict } from "../../services/sense/connectors/connectors.model.ts";
import { Consumer } from "../../services/sense/connectors/consumer.ts";
import { resolveHost } from "../support/dns.ts";
import { type Outgoing, sendThrough, sendTo, type TestRabbit } from "../support/rabbitmq.ts";
import { settle } from "../support/settle.ts";

interface Kind {
  name: string;
  make: new (source: BrokerSource) => Connector;
  /** Returns the connector's name of a RabbitMQ queue. */
  from(queue: string): string;
  /** Matches the error of a missing queue. */
  missing: RegExp;
  /** Further sources that the broker refuses, and the reason. */
  refused?(rabbit: TestRabbit): [Partial<BrokerSource>, RegExp][];
  tellsDepth: boolean;
  /** Whether it reads streams; else it refuses them. */
  readsStreams: boolean;
  /** Sends one message over the protocol itself. */
  send(rabbit: TestRabbit, queue: string, message: Required<Outgoing>): Promise<void>;
}

/** The contract of every kind of connector, against a real broker. */
export function connectorSuite(
  rabbit: TestRabbit,
  { name, make, from, missing, refused = () => [], tellsDepth, readsStreams, send }: Kind,
): void {
  describe(name, () => {
    let queues = 0;
    const newQueue = () => `${name}-${++queues}`;
    const sourceOf = (queue: string, more: Partial<BrokerSource> = {}) => ({
      ...{ url: rabbit.url, from: from(queue), after: null, prefetch: 10, maxBytes: 1_048_576 },
      ...{ allowPrivate: true, resolve: resolveHost, ...more },
    });

    /** A connector that is open, and what it has given so far. */
    async function opened(source: BrokerSource) {
      const connector = new make(source);
      const messages: BrokerMessage[] = [];
      await connector.open((message) => messages.push(message));
      return { connector, messages };
    }

    const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ body: { n } }));
    const read = (messages: BrokerMessage[]) => messages.map(({ body }) => JSON.parse(body.toString()).n);

    test("gives a message with all that its sender says of it", async () => {
      const queue = newQueue();
      const headers = { "X-Kind": "order", size: 7, nested: { not: "given" } };
      const body = { text: "grüße", long: "x".repeat(300_000) };
      await sendTo(rabbit, queue, []);
      await send(rabbit, queue, {
        body,
        options: { contentType: "Application/JSON; charset=utf-8", messageId: "m-1", headers },
      });
      await sendTo(rabbit, queue, [{ body: "", options: { contentType: undefined } }]);
      const { connector, messages } = await opened(sourceOf(queue));
      await settle(() => messages.length === 2);
      const [first, second] = messages as [BrokerMessage, BrokerMessage];
      expect(JSON.parse(first.body.toString())).toEqual(body);
      expect(first).toMatchObject({ content_type: "Application/JSON; charset=utf-8", message_id: "m-1" });
      expect(first.headers).toEqual({ "x-kind": "order", size: "7" });
      expect(second).toMatchObject({ content_type: null, message_id: null, headers: {} });
      expect(second.body).toHaveLength(0);
      await connector.close();
    });

    test("leaves at the broker what is not acknowledged, and never more than the prefetch unacknowledged", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, numbers(30));
      const first = await opened(sourceOf(queue));
      await settle(() => first.messages.length === 10);
      for (const message of first.messages.slice(0, 5)) message.acknowledge();
      await settle(() => first.messages.length === 15);
      await first.connector.close();
      expect(first.messages).toHaveLength(15);
      expect(await first.connector.ended).toBe("it was closed");
      // Too late, and without harm.
      first.messages[5]?.acknowledge();

      const second = await opened(sourceOf(queue, { prefetch: 100 }));
      await settle(() => second.messages.length === 25);
      expect(new Set(read(second.messages))).toEqual(new Set(Array.from({ length: 25 }, (_, n) => 5 + n)));
      for (const message of second.messages) message.acknowledge();
      await second.connector.close();

      const third = await opened(sourceOf(queue));
      await sendTo(rabbit, queue, [{ body: { n: "last" } }]);
      await settle(() => third.messages.length > 0);
      expect(read(third.messages)).toEqual(["last"]);
      await third.connector.close();
      await third.connector.close();
    });

    test("tells how much waits, where the protocol does", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, numbers(15));
      const { connector, messages } = await opened(sourceOf(queue));
      await settle(() => messages.length === 10);
      expect(await connector.depth()).toBe(tellsDepth ? 5 : null);
      await connector.close();
      expect(await connector.depth()).toBeNull();
    });

    test("says why it cannot be opened, without the password", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, []);
      const wrong = rabbit.url.replace(/:[^:@]+@/, ":wr0ng-password@");
      const closed = rabbit.url.replace(/:\d+$/, ":1");
      const refusals: [Partial<BrokerSource>, RegExp][] = [
        ...refused(rabbit),
        [{ url: wrong }, /ACCESS.REFUSED|[Aa]uthenticat|unauthorized/],
        [{ from: from("nowhere") }, missing],
        [{ url: closed }, /ECONNREFUSED/],
        [{ allowPrivate: false }, /127\.0\.0\.1 is not a public address/],
      ];
      for (const host of ["localhost", "2130706433"]) {
        const url = rabbit.url.replace("127.0.0.1", host);
        refusals.push([{ url, allowPrivate: false }, /is not a public address/]);
      }
      for (const [more, reason] of refusals) {
        const message = await refusal(queue, more);
        expect(message).toMatch(reason);
        expect(message).not.toMatch(/wr0ng|s3cret/);
      }
    });

    /** Declares a queue and sends numbers to it, in order. */
    async function declared(queue: string, options: Options.AssertQueue, count = 0, from = 0) {
      const connection = await connect(rabbit.url);
      const channel = await connection.createConfirmChannel();
      await channel.assertQueue(queue, options);
      for (const { body } of numbers(count))
        channel.sendToQueue(queue, Buffer.from(JSON.stringify({ n: from + body.n })));
      await channel.waitForConfirms();
      await connection.close();
    }

    const stream = { durable: true, arguments: { "x-queue-type": "stream" } };
    async function refusal(queue: string, more: Partial<BrokerSource> = {}) {
      const connector = new make(sourceOf(queue, more));
      const opening = connector.open(() => {}).then(() => "opened");
      return await opening.catch(({ message }: Error) => message).finally(() => connector.close());
    }

    test("takes durable queues of all types, and refuses what is lost while it is away", async () => {
      const kept: Options.AssertQueue[] = [
        { durable: true, arguments: { "x-queue-type": "quorum" } },
        { durable: true, arguments: { "x-message-ttl": 60_000, "x-max-length": 9 } },
      ];
      for (const options of kept) {
        const queue = newQueue();
        await declared(queue, options, 1);
        const { connector, messages } = await opened(sourceOf(queue));
        await settle(() => messages.length === 1);
        await connector.close();
      }
      const lost: Options.AssertQueue[] = [
        { durable: false },
        { durable: true, autoDelete: true },
        ...(readsStreams ? [] : [stream]),
      ];
      for (const options of lost) {
        const queue = newQueue();
        await declared(queue, options);
        expect(await refusal(queue)).toMatch(/^it loses messages while the connector is away/);
      }
    });

    test("declares no queue that is missing", async () => {
      const queue = newQueue();
      expect(await refusal(queue)).not.toBe("opened");
      expect(await refusal(queue)).toMatch(new RegExp(missing.source.replace("nowhere", queue)));
    });

    if (readsStreams)
      test("reads a stream after the last durable message", async () => {
        const queue = newQueue();
        await declared(queue, stream, 3);
        const first = await opened(sourceOf(queue));
        await settle(() => first.messages.length === 3);
        expect(first.messages.map(({ offset }) => offset)).toEqual([0, 1, 2]);
        await first.connector.close();
        await declared(queue, stream, 2, 3);
        const second = await opened(sourceOf(queue, { after: 1 }));
        await settle(() => second.messages.length === 3);
        expect(read(second.messages)).toEqual([2, 3, 4]);
        expect(await second.connector.depth()).toBeNull();
        await second.connector.close();
      });

    if (readsStreams)
      test("reads a stream that was created again from its beginning", async () => {
        const queue = newQueue();
        await declared(queue, stream, 2);
        const { connector, messages } = await opened(sourceOf(queue, { after: 1000 }));
        await settle(() => messages.length === 2);
        await connector.close();
      });

    if (readsStreams)
      test("a consumer goes on where it stopped, before what it could not store", async () => {
        const queue = newQueue();
        await declared(queue, stream, 6);
        let refused = false;
        const taken: number[] = [];
        const take = async (batch: BrokerMessage[]): Promise<Verdict[]> =>
          read(batch).map((n) => {
            if (n >= 4 && !refused) return "again";
            taken.push(n);
            return "accepted";
          });
        const connectWith = (after: number | null) => new make(sourceOf(queue, { after }));
        const deps = { connect: connectWith, take, changed: () => {}, trouble: () => {} };
        const consumer = new Consumer(deps, Date.now);
        consumer.start();
        await settle(() => consumer.state === "retrying");
        await consumer.stop();
        expect(consumer.offset).toBe(3);
        refused = true;
        const next = new Consumer(deps, Date.now, consumer.offset);
        next.start();
        await settle(() => next.offset === 5);
        await next.stop();
        expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
      });

    test("closed while it opens, it leaves nothing open", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, numbers(1));
      const connector = new make(sourceOf(queue));
      const opening = connector.open(() => {}).catch((err: Error) => err.message);
      await connector.close();
      expect(await opening).toBe("it was closed");
      // Nobody else holds the message.
      const other = await opened(sourceOf(queue));
      await settle(() => other.messages.length === 1);
      await other.connector.close();
    });

    test("ends when its queue is deleted", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, []);
      const { connector } = await opened(sourceOf(queue));
      const connection = await connect(rabbit.url);
      await (await connection.createChannel()).deleteQueue(queue);
      await connection.close();
      expect(await connector.ended).toMatch(/queue was probably deleted/);
      await connector.close();
    });

    test("a consumer takes all that the broker confirmed, through its death in mid-flow", async () => {
      const queue = newQueue();
      await sendTo(rabbit, queue, []);
      const taken = new Set<number>();
      const states: string[] = [];
      let refusals = 0;
      const take = async (messages: BrokerMessage[]): Promise<Verdict[]> => {
        // Now and then what was taken cannot be stored.
        if (++refusals % 10 === 0 && refusals < 30) throw new Error("no room");
        for (const n of read(messages)) taken.add(n);
        return messages.map(() => "accepted");
      };
      const parts = { connect: () => new make(sourceOf(queue, { prefetch: 20 })), take };
      const troubles: (string | null)[] = [];
      const consumer = new Consumer(
        { ...parts, changed: () => states.push(consumer.state), trouble: (reason) => troubles.push(reason) },
        Date.now,
      );
      let [died, over] = [false, false];
      consumer.start();
      try {
        const sent = sendThrough(rabbit, queue, ({ size }) => over || (died && size >= 600));
        await settle(() => taken.size >= 100);
        await rabbit.kill();
        died = true;
        await settle(() => consumer.state === "retrying");
        expect(consumer.last_error).toEqual(expect.any(String));
        await rabbit.start();
        const confirmed = await sent;
        expect(confirmed.size).toBeGreaterThanOrEqual(600);
        const stillAway = () => {
          const missing = [...confirmed.difference(taken)];
          if (!missing.length) return true;
          throw new Error(
            `${consumer.state} (${consumer.last_error}), without ${missing.length}: ${missing.slice(0, 30)}`,
          );
        };
        await settle(stillAway, { within: 45_000, what: "all that was confirmed" });
        // Comes after all that the broker gives again, because it died before it had stored the acknowledgement.
        await sendTo(rabbit, queue, [{ body: { n: -2 } }]);
        await settle(() => taken.has(-2));
        expect(states).toContain("retrying");
        await settle(() => consumer.state === "consuming");
        expect(troubles.at(-1)).toBeNull();
        expect(troubles.some((reason, i) => reason === troubles[i - 1])).toBe(false);
        const { received, accepted, mapping_errors } = consumer.countsSince();
        expect(received).toBeGreaterThanOrEqual(confirmed.size);
        expect(accepted).toBeGreaterThanOrEqual(confirmed.size);
        expect(mapping_errors).toBe(0);
      } finally {
        over = true;
        await consumer.stop();
      }
      // A stopped connector has acknowledged all that it received; unconfirmed messages may have arrived since.
      const { connector, messages } = await opened(sourceOf(queue));
      await sendTo(rabbit, queue, [{ body: { n: -1 } }]);
      await settle(() => read(messages).includes(-1));
      expect(read(messages).filter((n) => taken.has(n))).toEqual([]);
      await connector.close();
    });
  });
}
