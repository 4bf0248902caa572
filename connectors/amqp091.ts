import type { Socket } from "node:net";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import {
  type BrokerMessage,
  type BrokerSource,
  CLOSE_MS,
  type Connector,
  Ending,
  guardSocket,
  HEAD_BYTES,
  HEARTBEAT_SECONDS,
  MOST_OVER,
  OPEN_MS,
  plainHeaders,
  settledWithin,
  TOO_MANY,
  textOrNull,
  typedHeaders,
} from "./connector.ts";

/** Takes messages from a queue over AMQP 0-9-1 (RabbitMQ). The queue must be there: it is not declared. */
export class Amqp091Connector implements Connector {
  readonly #source: BrokerSource;
  readonly #ending = new Ending();
  /** Sizes of messages that are held in part, by their properties. */
  readonly #sizes = new WeakMap<object, number>();
  /** Messages that are not acknowledged. */
  #held = 0;
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;

  constructor(source: BrokerSource) {
    this.#source = source;
  }

  get ended(): Promise<string> {
    return this.#ending.reason;
  }

  async open(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const options = {
      ...(await guardSocket(this.#source)),
      timeout: OPEN_MS,
      noDelay: true,
      keepAlive: true,
    };
    this.#connection = await connect(tuned(this.#source.url), options);
    try {
      this.#watch(this.#connection, "the connection was closed");
      // It may have been closed while the connection was made.
      if (this.#ending.over) throw new Error("it was closed");
      await this.#consume(this.#connection, onMessage);
    } catch (err) {
      await this.close();
      throw err;
    }
  }

  async #consume(connection: ChannelModel, onMessage: (message: BrokerMessage) => void): Promise<void> {
    const { from, prefetch, maxBytes } = this.#source;
    const channel = await connection.createChannel();
    this.#channel = channel;
    cutContents(channel as unknown as Accepting, maxBytes, this.#sizes);
    this.#watch(channel, "the channel was closed");
    // Says that there is no such queue better than the broker's refusal of a consumer does.
    await channel.checkQueue(from);
    await channel.prefetch(prefetch);
    await channel.consume(from, (message) => {
      if (this.#ending.over) return;
      if (message) onMessage(this.#toMessage(channel, message));
      // RabbitMQ's way to say that the queue was deleted, or has moved.
      else this.#ending.end("the broker ended the subscription: the queue may have been deleted");
      if (this.#held > MOST_OVER * prefetch) this.#ending.end(TOO_MANY);
    });
  }

  /** The reason comes as an error before the close; only a close that was asked for has none. */
  #watch(part: ChannelModel | Channel, closed: string): void {
    part.on("error", (err: Error) => this.#ending.end(err.message));
    part.on("close", () => this.#ending.end(closed));
  }

  #toMessage(channel: Channel, message: ConsumeMessage): BrokerMessage {
    const { contentType, messageId } = message.properties;
    const headers = withTimes(message.properties.headers);
    this.#held++;
    return {
      body: message.content,
      size: this.#sizes.get(message.properties) ?? message.content.length,
      content_type: textOrNull(contentType),
      message_id: textOrNull(messageId),
      headers: plainHeaders(headers),
      values: typedHeaders(headers),
      acknowledge: () => {
        if (this.#ending.over) return;
        channel.ack(message);
        this.#held--;
      },
    };
  }

  async depth(): Promise<number | null> {
    if (this.#ending.over || !this.#channel) return null;
    return (await this.#channel.checkQueue(this.#source.from)).messageCount;
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    const standing = !this.#ending.over;
    this.#ending.end("it was closed");
    if (!connection) return;
    if (standing) await settledWithin(this.#leave(connection), CLOSE_MS);
    // Whatever the broker answered, or did not: with an error, or amqplib would go on with its heartbeat.
    (connection.connection as unknown as { stream: Socket }).stream.destroy(new Error("it was closed"));
  }

  /** The channel first: acknowledgements on it go out before its own end, and after that of the connection. */
  async #leave(connection: ChannelModel): Promise<void> {
    await this.#channel?.close();
    await connection.close();
  }
}

/** Headers with the times that amqplib leaves as `{"!": "timestamp", value}`, in seconds. */
function withTimes(headers: Record<string, unknown> | undefined): Record<string, unknown> {
  const read = (value: unknown) => {
    const { "!": type, value: seconds } = (value ?? {}) as { "!"?: unknown; value?: unknown };
    return type === "timestamp" ? new Date(Number(seconds) * 1000) : value;
  };
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, read(value)]));
}

/** Frames of any length, which an address could ask for, would be held until they are whole. */
const FRAME_BYTES = 131_072;

function tuned(url: string): string {
  const given = new URL(url);
  const { searchParams } = given;
  if (!searchParams.has("heartbeat")) searchParams.set("heartbeat", String(HEARTBEAT_SECONDS));
  for (const name of ["frameMax", "maxFrameSize"]) searchParams.set(name, String(FRAME_BYTES));
  return given.href;
}

/** What is used of a frame: it announces a message's properties and size, or brings a part of it, or neither. */
interface Frame {
  fields?: object;
  size?: number;
  content?: Buffer;
}

interface Accepting {
  accept(frame: Frame): void;
}

/**
 * Lets a channel's messages that are larger than `most` become their beginnings, as soon as their size is announced:
 * amqplib holds all of a message until it is whole. `sizes` tells how large they were, by their properties.
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
