import { afterAll, describe, expect, test } from "@jest/globals";
import { connect } from "amqplib";
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
  /** Sends one message over the protocol itself. */
  send(rabbit: TestRabbit, queue: string, message: Required<Outgoing>): Promise<void>;
}

/** The contract of every kind of connector, against a real broker, which it stops; skipped without one. */
export function connectorSuite(
  started: TestRabbit | { skipped: string },
  { name, make, from, missing, refused = () => [], tellsDepth, send }: Kind,
): void {
  ("url" in started ? describe : describe.skip)(name, () => {
    const rabbit = started as TestRabbit;
    let queues = 0;
    const newQueue = () => `${name}-${++queues}`;
    const sourceOf = (queue: string, more: Partial<BrokerSource> = {}) => ({
      ...{
        url: rabbit.url,
        from: from(queue),
        prefetch: 10,
        maxBytes: 1_048_576,
        allowPrivate: true,
        resolve: resolveHost,
      },
      ...more,
    });

    afterAll(() => rabbit.stop());

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
      expect(new Set(read(second.messages))).toEqual(
        new Set(
          numbers(30)
            .map(({ body }) => body.n)
            .slice(5),
        ),
      );
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
        [
          { url: rabbit.url.replace("127.0.0.1", "localhost"), allowPrivate: false },
          /is not a public address/,
        ],
        [
          { url: rabbit.url.replace("127.0.0.1", "2130706433"), allowPrivate: false },
          /is not a public address/,
        ],
      ];
      for (const [more, reason] of refusals) {
        const connector = new make(sourceOf(queue, more));
        const error = await connector
          .open(() => {})
          .then(
            () => null,
            (err: Error) => err,
          );
        expect(error?.message).toMatch(reason);
        expect(error?.message).not.toMatch(/wr0ng|s3cret/);
        await connector.close();
      }
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
      expect(await connector.ended).toEqual(expect.any(String));
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
        {
          ...parts,
          changed: () => states.push(consumer.state),
          trouble: (reason) => troubles.push(reason),
        },
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
        await settle(() => confirmed.isSubsetOf(taken), { within: 90_000, what: "all that was confirmed" });
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
