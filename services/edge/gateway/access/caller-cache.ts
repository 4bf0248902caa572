import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ServiceBroker } from "moleculer";
import { API_KEY_PATTERN, hashApiKey } from "../../../../lib/access/api-key.ts";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault, isFault, unavailable } from "../../../../lib/contract/faults.ts";
import { authorizationOf } from "./browser.ts";

/** Callers whose rights may have changed: all of the tenant that match the given fields (event `auth.changed`). */
export interface AuthChange {
  tenant_id: string;
  agent_id?: string;
  user_id?: string;
  key_id?: string;
  token_id?: string;
  session_id?: string;
}

interface Entry {
  caller: Caller;
  /** When the store was last asked, on this process's monotonic clock. */
  checked_at: number;
  /** Whether it was used since the last refresh. */
  used: boolean;
}

const REFRESH_MS = 2000;
// Plus the duration of a refresh, below the 5 s within which a revocation takes effect on every node.
const TRUSTED_MS = 4000;
const CALL_TIMEOUT_MS = 3000;
const CAPACITY = 50_000;
const CHUNK = 1000;
const LONGEST_TOKEN = 4096;
const TOKEN = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const KEY = new RegExp(`^Bearer +(${API_KEY_PATTERN.slice(1, -1)})$`, "i");

/** The credential of a request. An API key leaves this node only as its hash. */
type Credential = { token: string } | { hash: string };

/**
 * Resolves the caller of a request. Verifying a token costs a hundred microseconds and some look-ups, so verified
 * callers are cached by the Authorization header, and those in use are rechecked against the store every 2 s. An entry
 * that could not be rechecked is not trusted: the request waits for the store, or gets a retryable error.
 */
export class CallerCache {
  readonly #broker: ServiceBroker;
  readonly #publicUrl: string | null;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Caller>>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing = false;
  /** Log once, not per request, until tokens can be verified again. */
  #said = false;

  /** @param publicUrl determines the name of a browser's session cookie */
  constructor(broker: ServiceBroker, publicUrl: string | null = null) {
    this.#broker = broker;
    this.#publicUrl = publicUrl;
  }

  start(): void {
    this.#timer = setInterval(() => this.#refresh(), REFRESH_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Returns the caller of a request, synchronously if its token or API key is cached.
   *
   * @param ip the caller's address, to limit wrong keys
   * @throws Fault authentication_failed (missing or invalid token), rate_limited (too many wrong keys from this
   * address), service_unavailable (cannot be verified now).
   */
  resolve(req: IncomingMessage, ip?: string): Caller | Promise<Caller> {
    const authorization = authorizationOf(req, this.#publicUrl);
    if (authorization === undefined)
      throw refused("A bearer token is needed: Authorization: Bearer <access token> or Bearer <API key>.");
    const entry = this.#entries.get(asBefore(req.socket, authorization));
    if (entry && performance.now() - entry.checked_at < TRUSTED_MS && entry.caller.expires_at > Date.now()) {
      entry.used = true;
      return entry.caller;
    }
    return this.#verify(authorization, ip);
  }

  /** Drops the callers affected by a change, so that it takes effect here at once. */
  forget(change: AuthChange): void {
    for (const [header, { caller }] of this.#entries) {
      if (concerns(change, caller)) this.#entries.delete(header);
    }
  }

  #verify(authorization: string, ip: string | undefined): Promise<Caller> {
    const pending = this.#pending.get(authorization);
    if (pending) return pending;
    const credential = credentialOf(authorization);
    if (!credential)
      throw refused("Authorization is not of the form: Bearer <access token> or Bearer <API key>.");
    const verified = this.#ask(authorization, credential, ip).finally(() =>
      this.#pending.delete(authorization),
    );
    this.#pending.set(authorization, verified);
    return verified;
  }

  async #ask(authorization: string, credential: Credential, ip: string | undefined): Promise<Caller> {
    const checked_at = performance.now();
    const known = this.#entries.get(authorization)?.caller;
    try {
      const caller = await this.#callerBy(credential, known, ip);
      this.#put(authorization, { caller, checked_at, used: false });
      this.#said = false;
      return caller;
    } catch (err) {
      if (isFault(err)) {
        this.#entries.delete(authorization);
        throw err;
      }
      if (!this.#said) this.#broker.logger.warn({ err }, "tokens cannot be verified");
      this.#said = true;
      throw unavailable("Tokens cannot be verified at the moment; retry.");
    }
  }

  async #callerBy(
    credential: Credential,
    known: Caller | undefined,
    ip: string | undefined,
  ): Promise<Caller> {
    if ("token" in credential) return (await this.#call("auth.verify", credential)) as Caller;
    // A key that was valid is no guess: wrong keys from the same address do not limit it.
    const [still] = known
      ? ((await this.#call("auth.states", { callers: [known] })) as (Caller | null)[])
      : [];
    return still ?? ((await this.#call("auth.verify_key", credential, ip)) as Caller);
  }

  /** Moves an entry to the end; the first is the least recently used. */
  #put(header: string, entry: Entry): void {
    this.#entries.delete(header);
    this.#entries.set(header, entry);
    if (this.#entries.size <= CAPACITY) return;
    const [oldest] = this.#entries.keys();
    this.#entries.delete(oldest as string);
  }

  async #refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    try {
      const used = [...this.#entries].filter(([, entry]) => entry.used);
      for (let at = 0; at < used.length; at += CHUNK) await this.#check(used.slice(at, at + CHUNK));
    } catch (err) {
      this.#broker.logger.warn({ err }, "tokens in use could not be checked");
    } finally {
      this.#refreshing = false;
    }
  }

  async #check(entries: [string, Entry][]): Promise<void> {
    const checked_at = performance.now();
    const callers = entries.map(([, entry]) => entry.caller);
    const current = (await this.#call("auth.states", { callers })) as (Caller | null)[];
    for (const [i, [header, entry]] of entries.entries()) {
      // Dropped or verified again while the store was asked: that is newer.
      if (this.#entries.get(header) !== entry) continue;
      const caller = current[i];
      if (caller) this.#put(header, { caller, checked_at, used: false });
      else this.#entries.delete(header);
    }
  }

  #call(action: string, params: object, ip?: string): Promise<unknown> {
    return this.#broker.call(action, params, { timeout: CALL_TIMEOUT_MS, ...(ip && { meta: { ip } }) });
  }
}

function credentialOf(authorization: string): Credential | undefined {
  if (authorization.length > LONGEST_TOKEN) return undefined;
  const token = TOKEN.exec(authorization)?.[1];
  if (token) return { token };
  const key = KEY.exec(authorization)?.[1];
  return key ? { hash: hashApiKey(key) } : undefined;
}

interface Connection extends Socket {
  $authorization?: string;
}

/** Returns the connection's previous string if it is equal: its hash is cached, which saves a microsecond. */
function asBefore(connection: Connection, authorization: string): string {
  if (connection.$authorization !== authorization) connection.$authorization = authorization;
  return connection.$authorization;
}

function concerns(change: AuthChange, caller: Caller): boolean {
  return Object.entries(change).every(([name, value]) => caller[name as keyof Caller] === value);
}

function refused(message: string): Fault {
  return new Fault("authentication_failed", message);
}
