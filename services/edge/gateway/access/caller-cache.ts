import type { IncomingMessage } from "node:http";
import type { ServiceBroker } from "moleculer";
import { API_KEY_PATTERN, hashApiKey } from "../../../../lib/access/api-key.ts";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault, isFault, unavailable } from "../../../../lib/contract/faults.ts";
import { Loop } from "../../../../mixins/loop.ts";
import type { AuthChange } from "../../../identity/tenants/auth-change.ts";
import type { Refuse } from "../http-exchange.ts";
import { authorizationOf } from "./access.ts";
import { Verifications } from "./verifications.ts";

const CHECK_MS = 2000;
/** Counted from the beginning of a check: below the 5 s within which a revocation takes effect on every node. */
const TRUSTED_MS = 4500;
const CALL_TIMEOUT_MS = 3000;
const CHUNK = 1000;
const CAPACITY = 50_000;
/** How long the refusal of a suspended tenant's caller is repeated without asking: no limit of wrong keys applies to it. */
const REFUSED_MS = 2000;

/** A verified caller. */
interface Entry {
  caller: Caller;
  /** When the store was last asked for the caller's state, on this process's monotonic clock. */
  checked_at: number;
  /** Whether it was used since the last check. */
  used: boolean;
  /** Open requests of the caller: waiting polls and streams. */
  open: Set<Refuse>;
}

/**
 * Resolves the caller of a request. Verifying a token costs a hundred microseconds and some look-ups, so verified
 * callers are cached by the Authorization header. Every 2 s, one call checks all that are in use. A caller who was not
 * checked lately is verified again.
 */
export class CallerCache {
  readonly #broker: ServiceBroker;
  readonly #publicUrl: string | null;
  /** By Authorization, in the order of their last use. What is not valid is never kept. */
  readonly #entries = new Map<string, Entry>();
  /** Verifications in progress, and those that a suspended tenant's caller got lately. */
  readonly #pending = new Map<string, Promise<Caller>>();
  readonly #checks: Loop;
  readonly #verifications = new Verifications((action, params) => this.#call(action, params));
  /** Log once, not per request, until tokens can be verified again. */
  #said = false;

  /** @param publicUrl determines the name of a browser's session cookie */
  constructor(broker: ServiceBroker, publicUrl: string | null = null) {
    this.#broker = broker;
    this.#publicUrl = publicUrl;
    this.#checks = new Loop(
      () => this.#check(),
      CHECK_MS,
      (err) => void this.#report(err),
    );
  }

  start(): void {
    this.#checks.start();
  }

  stop(): void {
    void this.#checks.stop();
  }

  /**
   * Returns the caller of a request, synchronously if its token or API key is cached.
   *
   * @throws Fault authentication_failed (missing or invalid token), service_unavailable (cannot be verified now).
   */
  resolve(req: IncomingMessage): Caller | Promise<Caller> {
    const authorization = authorizationOf(req, this.#publicUrl);
    if (authorization === undefined)
      throw refused("The header Authorization is missing: send Bearer <access token> or Bearer <API key>.");
    const entry = this.#entries.get(authorization);
    if (!entry || isOver(entry) || !isTrusted(entry)) return this.#verify(authorization);
    entry.used = true;
    return entry.caller;
  }

  /**
   * Calls `refuse` once the caller of an open request, resolved before, is refused.
   *
   * @returns a function that ends this
   */
  watch(req: IncomingMessage, refuse: Refuse): () => void {
    const open = this.#entries.get(authorizationOf(req, this.#publicUrl) ?? "")?.open;
    if (!open) {
      // Refused since it was resolved, or displaced by others.
      queueMicrotask(() => refuse(cannotVerify()));
      return () => {};
    }
    open.add(refuse);
    return () => void open.delete(refuse);
  }

  /** Has the callers affected by a change checked again, so that it takes effect here at once. */
  forget(change: AuthChange): void {
    this.#pending.clear();
    const concerned = Object.entries(change) as [keyof Caller, string][];
    let isOpen = false;
    for (const [authorization, entry] of this.#entries) {
      if (!concerned.every(([name, value]) => entry.caller[name] === value)) continue;
      // A new entry: a check that has begun already must not count.
      this.#entries.set(authorization, { ...entry, checked_at: Number.NEGATIVE_INFINITY });
      isOpen ||= entry.open.size > 0;
    }
    if (isOpen) this.#checks.nudge();
  }

  #verify(authorization: string): Promise<Caller> {
    const pending = this.#pending.get(authorization);
    if (pending) return pending;
    const verified = this.#ask(authorization, credentialOf(authorization));
    const forget = () => {
      if (this.#pending.get(authorization) === verified) this.#pending.delete(authorization);
    };
    verified.then(forget, (err: Fault) => {
      if (err.data?.reason === "suspended") setTimeout(forget, REFUSED_MS).unref();
      else forget();
    });
    this.#pending.set(authorization, verified);
    return verified;
  }

  async #ask(authorization: string, credential: Credential): Promise<Caller> {
    const checked_at = performance.now();
    try {
      const caller =
        "token" in credential
          ? await this.#verifications.verify(credential.token)
          : ((await this.#call("auth.verify_key", credential)) as Caller);
      const open = this.#entries.get(authorization)?.open ?? new Set<Refuse>();
      this.#keep(authorization, { caller, checked_at, used: false, open });
      this.#said = false;
      return caller;
    } catch (err) {
      if (!isFault(err) || err.type === "service_unavailable") throw this.#report(err);
      this.#drop(authorization, this.#entries.get(authorization), err);
      throw err;
    }
  }

  /** Checks all callers in use. Returns the time until the next check, in milliseconds. */
  async #check(): Promise<number> {
    const began = performance.now();
    const active = [...this.#entries].filter(([, entry]) => entry.used || entry.open.size > 0);
    for (const [authorization, entry] of active) {
      entry.used = false;
      this.#keep(authorization, entry);
    }
    for (let at = 0; at < active.length; at += CHUNK) {
      const chunk = active.slice(at, at + CHUNK);
      const checked_at = performance.now();
      const callers = chunk.map(([, { caller }]) => caller);
      const current = (await this.#call("auth.states", { callers })) as (Caller | null)[];
      for (const [i, [authorization, entry]] of chunk.entries()) {
        const caller = current[i];
        if (!caller || isOver(entry)) this.#drop(authorization, entry, refused(OVER));
        else if (this.#entries.get(authorization) === entry) Object.assign(entry, { caller, checked_at });
      }
    }
    this.#said = false;
    return Math.max(0, began + CHECK_MS - performance.now());
  }

  /** Keeps a caller as the one used last, in place of the least recently used that no open request needs. */
  #keep(authorization: string, entry: Entry): void {
    this.#entries.delete(authorization);
    this.#entries.set(authorization, entry);
    if (this.#entries.size <= CAPACITY) return;
    for (const [oldest, { open }] of this.#entries)
      if (open.size === 0) return void this.#entries.delete(oldest);
  }

  /** Removes a caller, unless a newer entry has taken its place, and refuses its open requests. */
  #drop(authorization: string, entry: Entry | undefined, fault: Fault): void {
    if (!entry || this.#entries.get(authorization) !== entry) return;
    this.#entries.delete(authorization);
    for (const refuse of entry.open) refuse(fault);
  }

  #report(err: unknown): Fault {
    if (!this.#said) this.#broker.logger.warn({ err }, "tokens cannot be verified");
    this.#said = true;
    return cannotVerify();
  }

  #call(action: string, params: object): Promise<unknown> {
    return this.#broker.call(action, params, { timeout: CALL_TIMEOUT_MS });
  }
}

function isTrusted({ checked_at }: Entry): boolean {
  return performance.now() - checked_at < TRUSTED_MS;
}

function isOver({ caller }: Entry): boolean {
  return caller.expires_at <= Date.now();
}

/** The credential of a request. An API key leaves this node only as its hash. */
type Credential = { token: string } | { hash: string };

const LONGEST_TOKEN = 4096;
const TOKEN = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const KEY = new RegExp(`^Bearer +(${API_KEY_PATTERN.slice(1, -1)})$`, "i");

/** @throws Fault authentication_failed for an Authorization that has another form */
function credentialOf(authorization: string): Credential {
  const isShort = authorization.length <= LONGEST_TOKEN;
  const token = isShort && TOKEN.exec(authorization)?.[1];
  if (token) return { token };
  const key = isShort && KEY.exec(authorization)?.[1];
  if (key) return { hash: hashApiKey(key) };
  throw refused("The header Authorization is malformed: expected Bearer <access token> or Bearer <API key>.");
}

const OVER = "The token or API key was revoked or has expired, or its owner is not active.";

function refused(message: string): Fault {
  return new Fault("authentication_failed", message);
}

function cannotVerify(): Fault {
  return unavailable("Tokens cannot be verified right now. Retry in 1 s.");
}
