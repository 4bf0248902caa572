import type { Scheme } from "./schemes.ts";

/** Returns a scalar of a delivery as text: a JSON Pointer into the payload or a header (`header:NAME`). */
export type Look = (term: string) => string | undefined;

/** The parts of an event as a sender's delivery has them. */
interface EventFields {
  entity: string | undefined;
  action: string | undefined;
  subject?: string | undefined;
  /** The sender's id of the event, if the signed body contains it. */
  id?: string | undefined;
  /** ISO 8601, or seconds or milliseconds since the epoch. */
  time?: string | undefined;
}

/** An unsigned request that verifies the address. */
export interface Verification {
  method: string;
  query: URLSearchParams;
  /** Whether it has no body. */
  empty: boolean;
}

/**
 * Proof of the address. `echo`: the text itself, which anybody gets at any address; with a `token` only who knows the
 * secret. `sign`: an answer made with the secret; null for a secret that it might disclose.
 */
export type Challenge = { echo: string; token?: string } | { sign(secret: string): object | null };

export interface Handshake {
  /** In words, for the reference. */
  about: string;
  /** Reads an unsigned request; null for others. */
  challenge?(request: Verification): Challenge | null;
  /** Returns the answer to a signed delivery that is no event; null for others. */
  answer?(payload: Record<string, unknown>, secret: string): object | null;
}

/** A request as the sender documents it, or as its own library makes it. */
export interface Vector {
  secret: string;
  body: string;
  headers: Record<string, string>;
  /** Its time, in ms. */
  at?: number;
  url?: string;
}

export interface Sender {
  title: string;
  /** The signatures that the sender uses: no other is accepted. */
  schemes: readonly Scheme[];
  /** Where the sender shows the secret that it signs with; absent if it takes one from here. */
  secret?: string;
  /** The header with the sender's id of a delivery, the same for its retries. */
  delivery?: string;
  /** Headers that say what a delivery is about, which the sender does not sign. */
  topic?: readonly string[];
  /** Whether it sends one body for several topics. */
  several?: boolean;
  /** Whether it sends the same body again for another event: within a minute it counts as a retry. */
  repeats?: boolean;
  /** The status of an answer without a text, if the sender does not take 202. */
  status?: 200 | 204;
  /** Where the kind of event is; the error for a delivery without one names it. */
  kind: string;
  fields(look: Look, payload: unknown): EventFields;
  /** Returns the event's data, if the payload contains the secret. */
  data?(payload: unknown): unknown;
  handshake?: Handshake;
  /** A delivery to try a mapping on, and the end of its event's type. */
  sample: { payload: unknown; headers?: Record<string, string>; type: string };
  vector: Vector;
}

/** The action of senders that name none. */
export const RECEIVED = "received";

export const first = (look: Look, ...terms: string[]) => {
  for (const term of terms) {
    const value = look(term);
    if (value !== undefined) return value;
  }
  return undefined;
};

/** Splits `customer.subscription.updated` before its last part. */
export function dotted(name: string | undefined, dot = "."): Pick<EventFields, "entity" | "action"> {
  const at = name?.lastIndexOf(dot) ?? -1;
  return at > 0
    ? { entity: name?.slice(0, at), action: name?.slice(at + 1) }
    : { entity: name, action: RECEIVED };
}

/** Returns the parameter if it is of the expected form. */
export function parameter({ query }: Verification, name: string, form: RegExp): string | null {
  const value = query.get(name);
  return value !== null && form.test(value) ? value : null;
}
