import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ServiceBroker } from "moleculer";
import { API_KEY_PATTERN, hashApiKey } from "../../../../lib/access/api-key.ts";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault, isFault } from "../../../../lib/contract/faults.ts";
import { authorizationOf } from "./browser.ts";

/** Which callers may no longer be what they were: all of the tenant that fit what is named (event `auth.changed`). */
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
  /** When the store was last asked, on this process's steady clock. */
  checked_at: number;
  /** Since the last refresh. */
  used: boolean;
}

const REFRESH_MS = 2000;
// With the refresh's own time less than the 5 s within which a revocation holds on every node.
const TRUSTED_MS = 4000;
const CALL_TIMEOUT_MS = 3000;
const CAPACITY = 50_000;
const CHUNK = 1000;
const LONGEST_TOKEN = 4096;
const TOKEN = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const KEY = new RegExp(`^Bearer +(${API_KEY_PATTERN.slice(1, -1)})$`, "i");

/** What a request proves itself with. An API key itself leaves this node as its hash only. */
type Credential = { token: string } | { hash: string };

/**
 * Who makes a request. Verifying a token costs a hundred microseconds and some look-ups, so a verified one is kept,
 * by the Authorization header as it came, and what is in use is checked against the store every 2 s. An entry that
 * could not be checked is not trusted: the request waits for the store, or is told to come again.
 */
export class CallerCache {
  readonly #broker: ServiceBroker;
  readonly #publicUrl: string | null;
  readonly #entries = new Map<string, Entry>();
  readonly #pending = new Map<string, Promise<Caller>>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing = false;
  /** Said once, not with each request until tokens can be verified again. */
  #said = false;

  /** @param publicUrl decides what the cookie of a browser's session is called */
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
   * The caller of a request, at once when its token or API key is known.
   *
   * @param ip the caller's address, against which wrong keys count
   * @throws Fault authentication_failed (no token, or not a good one), rate_limited (too many wrong keys from this
   *   address), service_unavailable (cannot be known now).
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

  /** Drops what a change concerns, so that it holds here at once. */
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
      throw new Fault("service_unavailable", "Tokens cannot be verified now; try again.", {
        retry_after_seconds: 1,
      });
    }
  }

  async #callerBy(
    credential: Credential,
    known: Caller | undefined,
    ip: string | undefined,
  ): Promise<Caller> {
    if ("token" in credential) return (await this.#call("auth.verify", credential)) as Caller;
    // A key that was good is no guess: it does not wait for what others guess at the same address.
    const [still] = known
      ? ((await this.#call("auth.states", { callers: [known] })) as (Caller | null)[])
      : [];
    return still ?? ((await this.#call("auth.verify_key", credential, ip)) as Caller);
  }

  /** Puts an entry last; the first is the one that has not been used for longest. */
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
      // Dropped or verified anew while the store was asked: that is newer.
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

/** The same text, as the same string as before on this connection: of that the hash is known, which takes a microsecond. */
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
