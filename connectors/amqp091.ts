import type { Socket } from "node:net";
import { type Channel, type ChannelModel, type ConsumeMessage, connect } from "amqplib";
import {
  type BrokerMessage,
  type BrokerSource,
  CLOSE_MS,
  type Connector,
  Ending,
  guardSocket,
  HEARTBEAT_SECONDS,
  mediaType,
  OPEN_MS,
  plainHeaders,
  settledWithin,
} from "./connector.ts";

/** Takes messages from a queue over AMQP 0-9-1 (RabbitMQ). The queue must be there: it is not declared. */
export class Amqp091Connector implements Connector {
  readonly #source: BrokerSource;
  readonly #ending = new Ending();
  #connection: ChannelModel | undefined;
  #channel: Channel | undefined;

  constructor(source: BrokerSource) {
    this.#source = source;
  }

  get ended(): Promise<string> {
    return this.#ending.reason;
  }

  async open(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const options = { ...guardSocket(this.#source), timeout: OPEN_MS, noDelay: true, keepAlive: true };
    this.#connection = await connect(withHeartbeat(this.#source.url), options);
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
    const { from, prefetch } = this.#source;
    const channel = await connection.createChannel();
    this.#channel = channel;
    this.#watch(channel, "the channel was closed");
    // Says that there is no such queue better than the broker's refusal of a consumer does.
    await channel.checkQueue(from);
    await channel.prefetch(prefetch);
    await channel.consume(from, (message) => {
      if (message) onMessage(this.#toMessage(channel, message));
      // RabbitMQ's way to say that the queue was deleted, or has moved.
      else this.#ending.end("the broker ended the subscription: the queue may have been deleted");
    });
  }

  /** The reason comes as an error before the close; only a close that was asked for has none. */
  #watch(part: ChannelModel | Channel, closed: string): void {
    part.on("error", (err: Error) => this.#ending.end(err.message));
    part.on("close", () => this.#ending.end(closed));
  }

  #toMessage(channel: Channel, message: ConsumeMessage): BrokerMessage {
    const { contentType, messageId, headers } = message.properties;
    return {
      body: message.content,
      content_type: mediaType(contentType),
      message_id: typeof messageId === "string" && messageId !== "" ? messageId : null,
      headers: plainHeaders(headers),
      acknowledge: () => {
        if (!this.#ending.over) channel.ack(message);
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

function withHeartbeat(url: string): string {
  const given = new URL(url);
  if (!given.searchParams.has("heartbeat")) given.searchParams.set("heartbeat", String(HEARTBEAT_SECONDS));
  return given.href;
}
