import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { HeaderValue } from "../lib/cloudevents/binary.ts";
import { hostOf, refusePrivate } from "./address-guard.ts";
import { makeLookup } from "./host-resolver.ts";

/** A message that the broker keeps until it is acknowledged. */
export interface BrokerMessage {
  /** The body; if larger than the source's `maxBytes`, only its first `HEAD_BYTES`. */
  body: Buffer;
  /** Size of the whole body in bytes. */
  size: number;
  /** Why the body could not be separated from the rest, if so; `body` is then the beginning of the raw message. */
  unreadable?: string;
  /** The media type as received, or null. */
  content_type: string | null;
  /** How the body is encoded (`gzip`), or null. */
  content_encoding?: string | null;
  /** The sender's message id, or null. */
  message_id: string | null;
  /** Other properties that tell producers and messages apart, and are the same for a redelivery. */
  properties?: unknown;
  /** Other headers by lower-case name: texts, numbers, booleans and times only. */
  headers: Record<string, string>;
  /** Its offset in a stream. Absent in a queue, whose broker keeps the position itself. */
  offset?: number;
  /** The same headers with the protocol's types, and headers that are bytes. */
  values?: Record<string, HeaderValue>;
  /** Lets the broker delete the message. No effect once the connection is lost: the broker redelivers. */
  acknowledge(): void;
}

export interface BrokerSource {
  /** `amqp://` or `amqps://`, with credentials if any. */
  url: string;
  /** The queue's name (AMQP 0-9-1) or the address of the source (AMQP 1.0). */
  from: string;
  /** Offset of the last durable message of a stream; null to read a stream from its beginning. */
  after: number | null;
  prefetch: number;
  /** Limit of a message body in bytes; a larger body is truncated. */
  maxBytes: number;
  /** Whether the broker may be on a private network. */
  allowPrivate: boolean;
  /** Returns all addresses of the broker's host (connectors/host-resolver.ts). */
  resolve(host: string): Promise<LookupAddress[]>;
}

/** A connection to a broker for messages from one source, used once: a lost one is replaced. */
export interface Connector {
  /** Resolves when ready, and passes each message to `onMessage`. @throws Error with the reason if it cannot connect */
  open(onMessage: (message: BrokerMessage) => void): Promise<void>;
  /** Resolves with the reason when, once open, no more messages will come. */
  readonly ended: Promise<string>;
  /** Messages waiting at the source; null if the protocol cannot report it. */
  depth(): Promise<number | null>;
  /** Sends pending acknowledgements and closes; unacknowledged messages return to the source. Never rejects. */
  close(): Promise<void>;
}

/** Some brokers exceed a limit that is renewed while messages are on their way, but not by this factor. */
const MOST_OVER = 2;

/** State shared by the connections of all protocols: the source, its unacknowledged messages, and the end. */
export abstract class Subscription {
  protected readonly source: BrokerSource;
  protected isOver = false;
  protected held = 0;
  readonly #end = Promise.withResolvers<string>();

  constructor(source: BrokerSource) {
    this.source = source;
  }

  get ended(): Promise<string> {
    return this.#end.promise;
  }

  /** Ends the connection: the first reason counts. */
  protected end(reason: string): void {
    this.isOver = true;
    this.#end.resolve(reason);
  }

  /** Ends the connection if the broker sent far more messages than it was asked for. */
  protected requireFew(): void {
    if (this.held > MOST_OVER * this.source.prefetch)
      this.end("the broker sent more messages than requested");
  }

  /** Returns a message's `acknowledge`. */
  protected settling(settle: () => void): () => void {
    this.held++;
    return () => {
      if (this.isOver) return;
      this.held--;
      settle();
    };
  }
}
/** Bytes passed on of a message that is too large. */
export const HEAD_BYTES = 65_536;
/** Timeout for opening a connection to a broker. */
export const OPEN_MS = 10_000;
/** The reason for refusing a source, completed by what it is. */
export const FORGETFUL = "it loses messages while the connector is away:";
/** Timeout for the broker's answer to a close. */
export const CLOSE_MS = 1000;
/** A connection without any sign of life is lost after about twice this time. */
export const HEARTBEAT_SECONDS = 15;

/** Returns socket options for a connection to a broker. @throws AddressRefused for an address that is not allowed */
export async function guardSocket({
  url,
  allowPrivate,
  resolve,
}: BrokerSource): Promise<{ lookup: LookupFunction }> {
  const addresses = await resolve(hostOf(url));
  if (!allowPrivate) refusePrivate(hostOf(url), addresses);
  return { lookup: makeLookup(addresses) };
}

/** Resolves when the promise settles, or after `ms`. */
export async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  await Promise.race([promise, sleep(ms, undefined, { ref: false })]).catch(() => {});
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Returns the values that are a text, number, boolean or time, by lower-case name. */
export function plainHeaders(values: Record<string, unknown> | undefined): Record<string, string> {
  const texts = Object.entries(typedHeaders(values)).filter(([, value]) => !(value instanceof Uint8Array));
  return Object.fromEntries(
    texts.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : String(value)]),
  );
}

/** Like `plainHeaders`, but keeps types and includes bytes. */
export function typedHeaders(values: Record<string, unknown> | undefined): Record<string, HeaderValue> {
  const named = Object.entries(values ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(named.filter(([, value]) => isHeaderValue(value)));
}

function isHeaderValue(value: unknown): value is HeaderValue {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return value instanceof Uint8Array || ["string", "number", "boolean"].includes(typeof value);
}
