import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import rhea, { type Connection, type Delivery, type EventContext, type Receiver } from "rhea";
import { readCredentials } from "../lib/http/address-credentials.ts";
import { hostOf } from "./address-guard.ts";
import {
  FRAME_BYTES,
  onLongFrame,
  onTransferred,
  readMessage,
  refuseUnasked,
  type Transferred,
} from "./amqp10-wire.ts";
import {
  type BrokerMessage,
  CLOSE_MS,
  type Connector,
  FORGETFUL,
  guardSocket,
  HEAD_BYTES,
  HEARTBEAT_SECONDS,
  OPEN_MS,
  plainHeaders,
  Subscription,
  settledWithin,
  textOrNull,
  typedHeaders,
} from "./connector.ts";

/** RabbitMQ's addresses of existing queues. It consumes others from queues that it creates and that do not last. */
const RABBIT_QUEUE = /^\/(?:amq\/queue|queues)\//;
const PROBE = "durable";
const NOT_DURABLE = /inequivalent arg '(?:durable|auto_delete|exclusive)'/;
const IS_STREAM = /inequivalent arg 'x-queue-type'.*'stream'/;
const NO_STREAMS = "it is a stream, which only the kind amqp091 reads from a stored offset";

const LOST = "the connection was lost";
/** RabbitMQ breaks off the connection of a consumer whose queue is deleted, without a word. */
const brokenOff = (why: string) =>
  `the broker broke off the connection without a reason (${why}): its queue was probably deleted, or the broker stopped`;

/** Consumes an address over AMQP 1.0 (Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ). */
export class Amqp10Connector extends Subscription implements Connector {
  /** Messages that the broker may still send. */
  #credit = 0;
  #connection: Connection | undefined;
  #socket: Socket | undefined;
  #isSubscribed = false;

  async open(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const timer = setTimeout(() => this.end(`no subscription within ${OPEN_MS / 1000} s`), OPEN_MS);
    const opened = this.#subscribe(onMessage).then(() => null);
    const refused = await Promise.race([opened, this.ended]).finally(() => clearTimeout(timer));
    if (refused === null) return;
    await this.close();
    throw new Error(refused);
  }

  async #subscribe(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const { from } = this.source;
    const guard = await guardSocket(this.source);
    // It can be closed meanwhile.
    if (this.isOver) return;
    const container = rhea.create_container();
    this.#watch(container);
    const connection = container.connect(this.#options(guard));
    this.#connection = connection;
    await new Promise<unknown>((opened) => connection.once("connection_open", opened));
    const rabbit = rabbitVersion(connection);
    if (rabbit && !RABBIT_QUEUE.test(from))
      return this.end(`${FORGETFUL} use /amq/queue/NAME, an existing queue, not ${from}`);
    // Credit is given manually: rhea's window refills when a message arrives, not when it is settled.
    const receiver = connection.open_receiver({
      // Of a broker with topics, requests a queue of that name.
      source: { address: from, capabilities: ["queue"] },
      autoaccept: false,
      credit_window: 0,
    });
    refuseUnasked(connection, new Set([receiver.name, PROBE]));
    // The other sections are much smaller than the largest body.
    onTransferred(connection, receiver, 2 * this.source.maxBytes, (message, delivery) => {
      if (this.isOver) return;
      this.#credit--;
      if (message) onMessage(this.#toMessage(receiver, message, delivery));
      else delivery.update(true);
      this.requireFew();
      this.#giveCredit(receiver);
    });
    await new Promise<void>((resolve) => {
      receiver.on("receiver_open", () => {
        // A refused attach is first answered without a source, then ended with the reason.
        if (!receiver.source?.address) return;
        if (receiver.source.distribution_mode === "copy")
          return this.end(`${FORGETFUL} "${from}" copies them to those who listen, as a topic does`);
        resolve();
      });
    });
    this.#isSubscribed = true;
    const temporary = rabbit?.startsWith("3.") ? await temporaryAt(connection, from) : null;
    if (temporary) this.end(temporary);
    this.#giveCredit(receiver);
  }

  /**
   * Gives credit only when the broker has used up its own: a message may be on its way, and some brokers then count new
   * credit from their current position. Gives it in halves, to wait less often.
   */
  #giveCredit(receiver: Receiver): void {
    const { prefetch } = this.source;
    const free = prefetch - this.held;
    if (this.isOver || this.#credit > 0 || free < prefetch / 2) return;
    this.#credit = free;
    receiver.add_credit(free);
  }

  #watch(container: ReturnType<typeof rhea.create_container>): void {
    const because = (context: EventContext, otherwise: string) => {
      const { error, connection, session, receiver } = context;
      const why = describeError(error ?? receiver?.error ?? session?.error ?? connection?.error) ?? otherwise;
      this.end(otherwise === LOST && this.#isSubscribed ? brokenOff(why) : why);
    };
    const endings = {
      connection_error: "the connection failed",
      connection_close: "the connection was closed",
      disconnected: LOST,
      session_error: "the session failed",
      session_close: "the session was closed",
      receiver_error: "the subscription was refused",
      receiver_close: "the subscription was ended",
    };
    for (const [name, otherwise] of Object.entries(endings)) {
      container.on(name, (context: EventContext) => because(context, otherwise));
    }
    for (const name of ["error", "protocol_error"]) {
      container.on(name, (err: unknown) =>
        this.end(describeError(err) ?? "the broker violated the protocol"),
      );
    }
  }

  #options(guard: Awaited<ReturnType<typeof guardSocket>>) {
    const { url } = this.source;
    const address = new URL(url);
    const { protocol, port } = address;
    const host = hostOf(url);
    const secure = protocol === "amqps:";
    const target = {
      ...guard,
      ...{ host, port: Number(port) || (secure ? 5671 : 5672) },
      ...(secure && !isIP(host) && { servername: host }),
    };
    const connect = (_port: number, _host: string, _options: unknown, connected: () => void) => {
      const socket = secure ? connectTls(target, connected) : connectTcp(target, connected);
      this.#socket = socket;
      const cutOff = () => {
        this.end("the broker sent a frame over the agreed limit");
        socket.destroy();
      };
      onLongFrame(() => this.#connection, socket, cutOff);
      return socket;
    };
    return {
      ...{ host, port: target.port, hostname: host, reconnect: false },
      ...(address.username && { password: "", ...readCredentials(address) }),
      idle_time_out: HEARTBEAT_SECONDS * 1000,
      max_frame_size: FRAME_BYTES,
      connection_details: () => ({ host, port: target.port, connect }),
    };
  }

  #toMessage(receiver: Receiver, message: Transferred, delivery: Delivery): BrokerMessage {
    return {
      ...this.#contentOf(message),
      acknowledge: this.settling(() => {
        delivery.accept();
        this.#giveCredit(receiver);
      }),
    };
  }

  #contentOf({ raw, size }: Transferred): Omit<BrokerMessage, "acknowledge"> {
    const { maxBytes } = this.source;
    const asItCame = { body: copyHead(raw), size, content_type: null, message_id: null, headers: {} };
    if (size > raw.length) return asItCame;
    try {
      const { body, content_type, content_encoding, message_id, properties, annotations, other } =
        readMessage(raw);
      if (annotations["x-stream-offset"] !== undefined) this.end(`${FORGETFUL} ${NO_STREAMS}`);
      return {
        body: body.length > maxBytes ? copyHead(body) : body,
        size: body.length,
        content_type: textOrNull(content_type),
        content_encoding: textOrNull(content_encoding),
        message_id: toMessageId(message_id),
        properties: other,
        headers: plainHeaders(properties),
        values: typedHeaders(properties),
      };
    } catch (err) {
      return { ...asItCame, unreadable: (err as Error).message };
    }
  }

  /** The protocol cannot report it. */
  depth(): Promise<number | null> {
    return Promise.resolve(null);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    if (connection && !this.isOver) {
      const closed = new Promise<void>((resolve) => {
        for (const name of ["connection_close", "disconnected"]) connection.once(name, () => resolve());
      });
      this.end("it was closed");
      connection.close();
      await settledWithin(closed, CLOSE_MS);
    }
    this.end("it was closed");
    // Destroy with an error, or rhea would continue its heartbeat.
    this.#socket?.destroy(new Error("it was closed"));
  }
}

/** Returns RabbitMQ's version; null for another broker. */
function rabbitVersion(connection: Connection): string | null {
  const { product, version } = (connection.properties ?? {}) as Record<string, unknown>;
  return product === "RabbitMQ" ? String(version) : null;
}

/** Returns why RabbitMQ's plugin would not keep the messages of an existing queue; null if it does. */
async function temporaryAt(connection: Connection, address: string): Promise<string | null> {
  // The plugin declares this address as a durable queue, and names the property of an existing one that differs.
  const session = connection.create_session();
  session.begin();
  const source = { address: address.replace(RABBIT_QUEUE, "/queue/"), durable: 2 as const };
  const receiver = session.open_receiver({ name: PROBE, source, credit_window: 0 });
  const answer = await new Promise<string>((resolve) => {
    receiver.once("receiver_open", () => resolve(""));
    // Handled here, they do not end the connection.
    for (const name of ["session_error", "session_close", "receiver_error", "receiver_close"])
      session.on(name, ({ error }: EventContext) => resolve(describeError(error ?? session.error) ?? ""));
  });
  session.close();
  if (NOT_DURABLE.test(answer)) return `${FORGETFUL} ${address} is not durable, or deletes itself`;
  return IS_STREAM.test(answer) ? `${FORGETFUL} ${NO_STREAMS}` : null;
}

/** Returns the text of a rhea error: an Error, or the condition and description from the broker. */
function describeError(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { condition, description, message } = error as Record<string, unknown>;
  const words = [condition, description ?? message].filter((each) => each !== undefined && each !== null);
  return words.length ? words.join(": ") : String(error);
}

/** Returns a copy, so that the rest can be freed. */
function copyHead(whole: Buffer): Buffer {
  return Buffer.from(whole.subarray(0, HEAD_BYTES));
}

/** Converts a message id: a text, a number, a UUID or bytes. */
function toMessageId(id: unknown): string | null {
  if (id === undefined || id === null || id === "") return null;
  return Buffer.isBuffer(id) ? id.toString("hex") : String(id);
}
