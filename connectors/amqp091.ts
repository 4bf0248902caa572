import type { Socket } from "node:net";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import {
  type BrokerMessage,
  CLOSE_MS,
  type Connector,
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

/** Consumes a queue over AMQP 0-9-1 (RabbitMQ). The queue must exist: the connector does not declare it. */
export class Amqp091Connector extends Subscription implements Connector {
  /** Sizes of truncated messages, by their properties. */
  readonly #sizes = new WeakMap<object, number>();
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;

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
      if (this.ending.over) throw new Error("it was closed");
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
    await channel.prefetch(prefetch);
    await channel.consume(from, (message) => {
      if (this.ending.over) return;
      if (message) onMessage(this.#toMessage(channel, message));
      // RabbitMQ ends the subscription when the queue is deleted or moves.
      else this.ending.end("the broker ended the subscription: its queue was probably deleted");
      this.requireFew();
    });
  }

  /** An error with the reason precedes the close, unless the close was requested. */
  #watch(part: ChannelModel | Channel, closed: string): void {
    part.on("error", (err: Error) => this.ending.end(err.message));
    part.on("close", () => this.ending.end(closed));
  }

  #toMessage(channel: Channel, message: ConsumeMessage): BrokerMessage {
    const { contentType, messageId } = message.properties;
    const headers = withTimes(message.properties.headers);
    return {
      body: message.content,
      size: this.#sizes.get(message.properties) ?? message.content.length,
      content_type: textOrNull(contentType),
      message_id: textOrNull(messageId),
      headers: plainHeaders(headers),
      values: typedHeaders(headers),
      acknowledge: this.settling(() => channel.ack(message)),
    };
  }

  async depth(): Promise<number | null> {
    if (this.ending.over || !this.#channel) return null;
    return (await this.#channel.checkQueue(this.source.from)).messageCount;
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    const standing = !this.ending.over;
    this.ending.end("it was closed");
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
  const given = new URL(url);
  const { searchParams } = given;
  if (!searchParams.has("heartbeat")) searchParams.set("heartbeat", String(HEARTBEAT_SECONDS));
  for (const name of ["frameMax", "maxFrameSize"]) searchParams.set(name, String(FRAME_BYTES));
  return given.href;
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

/**
 * Truncates messages larger than `most` as soon as their size is known: amqplib buffers a whole message. Records their
 * full sizes in `sizes`, by their properties.
 */
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
