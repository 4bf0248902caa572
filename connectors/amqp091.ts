import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
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

/** How long a stream may take to send its last known message again. */
const KNOWN_MS = 5000;
/** Makes a declaration that never creates a queue, but whose refusal names properties of an existing one. */
const INVALID = { "x-max-length": -1 };
const TEMPORARY = /inequivalent arg '(?:durable|auto_delete|exclusive)'/;

/**
 * Consumes a queue or a stream over AMQP 0-9-1 (RabbitMQ). It must exist: the connector does not declare it. Queues that
 * do not outlive a restart of the broker or the connector's absence are refused.
 */
export class Amqp091Connector extends Subscription implements Connector {
  /** Sizes of truncated messages, by their properties. */
  readonly #sizes = new WeakMap<object, number>();
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;
  #isStream = false;

  async open(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const options = {
      ...(await guardSocket(this.source)),
      timeout: OPEN_MS,
      noDelay: true,
      keepAlive: true,
    };
    this.#connection = await connect(tuned(this.source.url), options).catch((err: Error) => {
      throw /ConnectionOpenOk/.test(err.message) ? refusedVhost(this.source.url) : err;
    });
    try {
      this.#watch(this.#connection, "the connection was closed");
      // It can be closed while the connection is being opened.
      if (this.isOver) throw new Error("it was closed");
      await this.#consume(this.#connection, onMessage);
    } catch (err) {
      await this.close();
      throw err;
    }
  }

  async #consume(connection: ChannelModel, onMessage: (message: BrokerMessage) => void): Promise<void> {
    const { from, prefetch, maxBytes } = this.source;
    const channel = await connection.createChannel();
    this.#channel = channel;
    cutContents(channel as unknown as Accepting, maxBytes, this.#sizes);
    this.#watch(channel, "the channel was closed");
    // Reports a missing queue more clearly than the broker's refusal of a consumer.
    await channel.checkQueue(from);
    const declared = await findRefusal(connection, (other) =>
      other.assertQueue(from, { durable: true, arguments: INVALID }),
    );
    // Without the permission to declare, it is not known.
    if (declared && TEMPORARY.test(declared))
      throw new Error(`${FORGETFUL} the queue "${from}" is not durable, or deletes itself`);
    // Other queues refuse the argument.
    const asStream = await findRefusal(connection, async (other) => {
      await other.prefetch(1);
      await other.consume(from, () => {}, { arguments: { "x-stream-offset": "next" } });
    });
    this.#isStream = asStream === null;
    await channel.prefetch(prefetch);
    if (this.#isStream) await this.#readStream(channel, onMessage);
    else await this.#subscribe(channel, onMessage);
  }

  /**
   * Reads a stream from the last durable message, which proves that it is the same stream: one that was created again
   * and is shorter would send nothing. That one is read from its beginning.
   */
  async #readStream(channel: Channel, onMessage: (message: BrokerMessage) => void): Promise<void> {
    const { after } = this.source;
    const known = Promise.withResolvers<true>();
    const consumerTag = await this.#subscribe(channel, onMessage, after ?? "first", () =>
      known.resolve(true),
    );
    if (after === null) return;
    const late = sleep(KNOWN_MS, false, { ref: false });
    if (await Promise.race([known.promise, this.ended.then(() => true), late])) return;
    await channel.cancel(consumerTag);
    await this.#subscribe(channel, onMessage, "first");
  }

  async #subscribe(
    channel: Channel,
    onMessage: (message: BrokerMessage) => void,
    start?: number | "first",
    received?: () => void,
  ): Promise<string> {
    const take = (message: ConsumeMessage | null) => {
      received?.();
      if (this.isOver) return;
      // RabbitMQ ends the subscription when the queue is deleted or moves.
      if (!message) this.end("the broker ended the subscription: its queue was probably deleted");
      else if (start !== undefined && offsetOf(message) === start) channel.ack(message);
      else onMessage(this.#toMessage(channel, message));
      this.requireFew();
    };
    const options = start === undefined ? {} : { arguments: { "x-stream-offset": start } };
    return (await channel.consume(this.source.from, take, options)).consumerTag;
  }

  /** An error with the reason precedes the close, unless the close was requested. */
  #watch(part: ChannelModel | Channel, closed: string): void {
    part.on("error", (err: Error) => this.end(err.message));
    part.on("close", () => this.end(closed));
  }

  #toMessage(channel: Channel, message: ConsumeMessage): BrokerMessage {
    const { content, properties } = message;
    const { appId, userId, type, timestamp, correlationId, replyTo } = properties;
    const { exchange, routingKey } = message.fields;
    const headers = withTimes(properties.headers);
    return {
      body: content,
      size: this.#sizes.get(properties) ?? content.length,
      content_type: textOrNull(properties.contentType),
      content_encoding: textOrNull(properties.contentEncoding),
      message_id: textOrNull(properties.messageId),
      properties: [appId, userId, type, timestamp, correlationId, replyTo, exchange, routingKey],
      ...(this.#isStream && { offset: offsetOf(message) }),
      headers: plainHeaders(headers),
      values: typedHeaders(headers),
      acknowledge: this.settling(() => channel.ack(message)),
    };
  }

  async depth(): Promise<number | null> {
    // A stream reports all that it keeps.
    if (this.isOver || !this.#channel || this.#isStream) return null;
    return (await this.#channel.checkQueue(this.source.from)).messageCount;
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    const standing = !this.isOver;
    this.end("it was closed");
    if (!connection) return;
    if (standing) await settledWithin(this.#leave(connection), CLOSE_MS);
    // Destroy with an error even if the broker answered, or amqplib would continue its heartbeat.
    (connection.connection as unknown as { stream: Socket }).stream.destroy(new Error("it was closed"));
  }

  /** Closes the channel first, so that acknowledgements on it are sent before the connection ends. */
  async #leave(connection: ChannelModel): Promise<void> {
    await this.#channel?.close();
    await connection.close();
  }
}

function offsetOf({ properties }: ConsumeMessage): number {
  return Number(properties.headers?.["x-stream-offset"]);
}

/** Returns why the broker refuses a request, null if it does not. Uses a separate channel, which a refusal closes. */
async function findRefusal(
  connection: ChannelModel,
  request: (channel: Channel) => Promise<unknown>,
): Promise<string | null> {
  const channel = await connection.createChannel();
  channel.on("error", () => {});
  cutContents(channel as unknown as Accepting, 0, new WeakMap());
  try {
    await request(channel);
    await channel.close();
    return null;
  } catch (err) {
    return (err as Error).message;
  }
}

/** Converts amqplib's `{"!": "timestamp", value}`, in seconds, to dates. */
function withTimes(headers: Record<string, unknown> | undefined): Record<string, unknown> {
  const read = (value: unknown) => {
    const { "!": type, value: seconds } = (value ?? {}) as { "!"?: unknown; value?: unknown };
    return type === "timestamp" ? new Date(Number(seconds) * 1000) : value;
  };
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, read(value)]));
}

/** amqplib drops the broker's reason for refusing to open a connection after a sign-in that it accepted. */
function refusedVhost(url: string): Error {
  const vhost = decodeURIComponent(new URL(url).pathname.slice(1)) || "/";
  return new Error(
    `the broker refused the vhost "${vhost}": it does not exist, its connection limit is reached, or this user may not use it`,
  );
}

/** Limits the frame length, which an address can set: amqplib buffers a frame until it is complete. */
const FRAME_BYTES = 131_072;

function tuned(url: string): string {
  const parsed = new URL(url);
  const { searchParams } = parsed;
  if (!searchParams.has("heartbeat")) searchParams.set("heartbeat", String(HEARTBEAT_SECONDS));
  for (const name of ["frameMax", "maxFrameSize"]) searchParams.set(name, String(FRAME_BYTES));
  return parsed.href;
}

/** The used fields of a frame: properties and size of a message, part of its content, or neither. */
interface Frame {
  fields?: object;
  size?: number;
  content?: Buffer;
}

interface Accepting {
  accept(frame: Frame): void;
}

/** Truncates messages larger than `most`, which amqplib buffers whole, and records their sizes by their properties. */
function cutContents(channel: Accepting, most: number, sizes: WeakMap<object, number>): void {
  const accept = channel.accept.bind(channel);
  let left = 0;
  let beginning: Buffer = Buffer.alloc(0);
  channel.accept = (frame) => {
    const { fields, size = 0, content } = frame;
    if (fields && size > most) {
      sizes.set(fields, size);
      left = size;
      beginning = Buffer.alloc(0);
      accept({ ...frame, size: Math.min(size, HEAD_BYTES) });
    } else if (left > 0 && content) {
      left -= content.length;
      const missing = HEAD_BYTES - beginning.length;
      if (missing > 0) beginning = Buffer.concat([beginning, content.subarray(0, missing)]);
      if (left <= 0) accept({ ...frame, content: beginning });
    } else accept(frame);
  };
}
