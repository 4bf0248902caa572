import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import type { HeaderValue } from "../lib/cloudevents/binary.ts";
import { hostOf, refusePrivate } from "./address-guard.ts";
import { lookupOf } from "./host-resolver.ts";

/** One message of a broker, which the broker keeps until it is acknowledged. */
export interface BrokerMessage {
  /** Of one that is larger than the source's `maxBytes` only the beginning, `HEAD_BYTES` of it. */
  body: Buffer;
  /** Bytes of the whole body. */
  size: number;
  /** Why its body could not be told from the rest of it, where that is so: `body` then begins with all that came. */
  unreadable?: string;
  /** Its media type as it was given, or null. */
  content_type: string | null;
  /** What its sender calls it, or null. */
  message_id: string | null;
  /** What its sender says of it besides, by name in lower case; only what is a text, a number, a boolean or a time. */
  headers: Record<string, string>;
  /** The same headers with the types of the protocol, and those that are bytes. */
  values?: Record<string, HeaderValue>;
  /** Lets the broker forget it. Without effect once the connection is gone: the broker hands it out again. */
  acknowledge(): void;
}

/** Where a connector takes messages from. */
export interface BrokerSource {
  /** `amqp://` or `amqps://`, with credentials if there are any. */
  url: string;
  /** The queue's name (AMQP 0-9-1) or the address of the source (AMQP 1.0). */
  from: string;
  /** So many messages may be unacknowledged at once. */
  prefetch: number;
  /** Bytes that the body of a message may have; of one that has more only the beginning is held. */
  maxBytes: number;
  /** Whether the broker may stand on a private network. */
  allowPrivate: boolean;
  /** All addresses of its host (connectors/host-resolver.ts). */
  resolve(host: string): Promise<LookupAddress[]>;
}

/** One connection to a broker that takes messages from one source, used once: what is lost is made anew. */
export interface Connector {
  /** Resolves when messages may come; every one is given to `onMessage`. @throws Error that says why they cannot */
  open(onMessage: (message: BrokerMessage) => void): Promise<void>;
  /** Resolves, once open, when no more messages will come, with the reason. */
  readonly ended: Promise<string>;
  /** Messages that wait at the source; null where the protocol does not tell. */
  depth(): Promise<number | null>;
  /** Sends what was acknowledged and closes; what was not goes back to the source. Never rejects. */
  close(): Promise<void>;
}

/** That a connection is over, and why: what is said first holds. */
export class Ending {
  over = false;
  readonly reason: Promise<string>;
  readonly #resolve: (reason: string) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.reason = promise;
    this.#resolve = resolve;
  }

  end(reason: string): void {
    this.over = true;
    this.#resolve(reason);
  }
}

/** Some brokers send more than they were asked for, when they were asked anew meanwhile; not so many times as much. */
export const MOST_OVER = 2;
export const TOO_MANY = "the broker sent more messages than it was asked for";
/** Of a message that is too large, so much is given on. */
export const HEAD_BYTES = 65_536;
/** Brokers that are silent for longer while a connection is made are given up. */
export const OPEN_MS = 10_000;
/** A broker that does not answer a close is left after so long. */
export const CLOSE_MS = 1000;
/** A connection without any sign of life is lost after about twice as long. */
export const HEARTBEAT_SECONDS = 15;

/** What the socket to a broker is opened with. @throws AddressRefused for an address that is not allowed */
export async function guardSocket({
  url,
  allowPrivate,
  resolve,
}: BrokerSource): Promise<{ lookup: LookupFunction }> {
  const addresses = await resolve(hostOf(url));
  if (!allowPrivate) refusePrivate(hostOf(url), addresses);
  return { lookup: lookupOf(addresses) };
}

/** Resolves when the promise does, in whatever way, or after `ms`. */
export function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(done, done);
  });
}

/** What is a text, and not an empty one; else null. */
export function textOrNull(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** The values that are one text, number, boolean or time, by their names in lower case. */
export function plainHeaders(values: Record<string, unknown> | undefined): Record<string, string> {
  const texts = Object.entries(typedHeaders(values)).filter(([, value]) => !(value instanceof Uint8Array));
  return Object.fromEntries(
    texts.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : String(value)]),
  );
}

/** As `plainHeaders`, with their types and with bytes. */
export function typedHeaders(values: Record<string, unknown> | undefined): Record<string, HeaderValue> {
  const named = Object.entries(values ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries(named.filter(([, value]) => isHeaderValue(value)));
}

function isHeaderValue(value: unknown): value is HeaderValue {
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  return value instanceof Uint8Array || ["string", "number", "boolean"].includes(typeof value);
}
