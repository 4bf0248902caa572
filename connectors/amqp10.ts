import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import rhea, { type Connection, type Delivery, type EventContext, type Message, type Receiver } from "rhea";
import { hostOf } from "./address-guard.ts";
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

/** Takes messages from an address over AMQP 1.0 (Azure Service Bus, ActiveMQ Artemis, Qpid, RabbitMQ). */
export class Amqp10Connector implements Connector {
  readonly #source: BrokerSource;
  readonly #ending = new Ending();
  /** Messages that the broker may still send. */
  #credit = 0;
  /** Messages that are not settled. */
  #held = 0;
  #connection: Connection | undefined;
  #socket: Socket | undefined;

  constructor(source: BrokerSource) {
    this.#source = source;
  }

  get ended(): Promise<string> {
    return this.#ending.reason;
  }

  async open(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const timer = setTimeout(() => this.#ending.end(`no subscription within ${OPEN_MS / 1000} s`), OPEN_MS);
    const opened = this.#subscribe(onMessage).then(() => null);
    const refused = await Promise.race([opened, this.ended]).finally(() => clearTimeout(timer));
    if (refused === null) return;
    await this.close();
    throw new Error(refused);
  }

  async #subscribe(onMessage: (message: BrokerMessage) => void): Promise<void> {
    const { from } = this.#source;
    const container = rhea.create_container();
    this.#watch(container);
    const connection = container.connect(this.#options());
    this.#connection = connection;
    // Credit is given by hand: a window of rhea's is filled up when a message arrives, not when it is settled.
    const receiver = connection.open_receiver({
      source: { address: from },
      autoaccept: false,
      credit_window: 0,
    });
    receiver.on("message", ({ message, delivery }: EventContext) => {
      this.#credit--;
      this.#held++;
      onMessage(this.#toMessage(receiver, message as Message, delivery as Delivery));
      this.#giveCredit(receiver);
    });
    await new Promise<void>((resolve) => {
      receiver.on("receiver_open", () => {
        // An attach that is refused is answered first, without a source, and ended with the reason then.
        if (!receiver.source?.address) return;
        this.#giveCredit(receiver);
        resolve();
      });
    });
  }

  /**
   * Only when the broker has used up what it had: it may have sent something meanwhile, and some brokers then count
   * the new credit from where they are. By halves, so that it seldom waits for that.
   */
  #giveCredit(receiver: Receiver): void {
    const { prefetch } = this.#source;
    const free = prefetch - this.#held;
    if (this.#ending.over || this.#credit > 0 || free < prefetch / 2) return;
    this.#credit = free;
    receiver.add_credit(free);
  }

  /** All that ends it. */
  #watch(container: ReturnType<typeof rhea.create_container>): void {
    const because = (context: EventContext, otherwise: string) => {
      const { error, connection, session, receiver } = context;
      this.#ending.end(textOf(error ?? receiver?.error ?? session?.error ?? connection?.error) ?? otherwise);
    };
    const endings = {
      connection_error: "the connection failed",
      connection_close: "the connection was closed",
      disconnected: "the connection was lost",
      session_error: "the session failed",
      session_close: "the session was closed",
      receiver_error: "the subscription was refused",
      receiver_close: "the subscription was ended",
    };
    for (const [name, otherwise] of Object.entries(endings)) {
      container.on(name, (context: EventContext) => because(context, otherwise));
    }
    for (const name of ["error", "protocol_error"]) {
      container.on(name, (err: unknown) => this.#ending.end(textOf(err) ?? "the protocol was not kept to"));
    }
  }

  #options() {
    const { url } = this.#source;
    const { protocol, port, username, password } = new URL(url);
    const host = hostOf(url);
    const secure = protocol === "amqps:";
    const target = {
      ...guardSocket(this.#source),
      ...{ host, port: Number(port) || (secure ? 5671 : 5672) },
      ...(secure && !isIP(host) && { servername: host }),
    };
    const connect = (_port: number, _host: string, _options: unknown, connected: () => void) => {
      this.#socket = secure ? connectTls(target, connected) : connectTcp(target, connected);
      return this.#socket;
    };
    return {
      ...{ host, port: target.port, hostname: host, reconnect: false },
      ...(username && { username: decodeURIComponent(username), password: decodeURIComponent(password) }),
      idle_time_out: HEARTBEAT_SECONDS * 1000,
      connection_details: () => ({ host, port: target.port, connect }),
    };
  }

  #toMessage(receiver: Receiver, message: Message, delivery: Delivery): BrokerMessage {
    return {
      body: bodyOf(message.body),
      content_type: mediaType(message.content_type),
      message_id: idOf(message.message_id),
      headers: plainHeaders(message.application_properties),
      acknowledge: () => {
        if (this.#ending.over) return;
        delivery.accept();
        this.#held--;
        this.#giveCredit(receiver);
      },
    };
  }

  /** The protocol has no word for it. */
  depth(): Promise<number | null> {
    return Promise.resolve(null);
  }

  async close(): Promise<void> {
    const connection = this.#connection;
    if (connection && !this.#ending.over) {
      const closed = new Promise<void>((resolve) => {
        for (const name of ["connection_close", "disconnected"]) connection.once(name, () => resolve());
      });
      this.#ending.end("it was closed");
      connection.close();
      await settledWithin(closed, CLOSE_MS);
    }
    this.#ending.end("it was closed");
    // With an error, or rhea would go on with its heartbeat.
    this.#socket?.destroy(new Error("it was closed"));
  }
}

/** The text of what rhea gives as an error: an Error, or the condition and description that the broker sent. */
function textOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null) return null;
  const { condition, description, message } = error as Record<string, unknown>;
  const words = [condition, description ?? message].filter((each) => each !== undefined && each !== null);
  return words.length ? words.join(": ") : String(error);
}

const DATA_SECTION = 0x75;

/** Data sections as they are, a text value in UTF-8, any other value as JSON. */
function bodyOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  const { typecode, content } = (body ?? {}) as { typecode?: number; content?: Buffer | Buffer[] };
  if (typecode === DATA_SECTION && content) return Array.isArray(content) ? Buffer.concat(content) : content;
  return Buffer.from(JSON.stringify((typecode === undefined ? body : content) ?? null));
}

/** A message's id is a text, a number, a UUID or bytes. */
function idOf(id: unknown): string | null {
  if (id === undefined || id === null || id === "") return null;
  return Buffer.isBuffer(id) ? id.toString("hex") : String(id);
}
