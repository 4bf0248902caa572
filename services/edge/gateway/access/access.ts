import type { IncomingMessage } from "node:http";
import type { ServiceBroker } from "moleculer";
import { API_KEY_PATTERN, hashApiKey } from "../../../../lib/access/api-key.ts";
import { type Caller, hasScope } from "../../../../lib/access/caller.ts";
import { isCsrfToken, sessionToken } from "../../../../lib/access/session-cookie.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import {
  Fault,
  type FaultCode,
  forbidden,
  isFault,
  lacksScope,
  unauthenticated,
  unavailable,
} from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";
import { Loop } from "../../../../mixins/loop.ts";
import type { Verified } from "../../../identity/auth/auth.ts";
import type { AuthChange } from "../../../identity/tenants/routing-change.ts";
import type { Refuse } from "../http-exchange.ts";
import { AGENT_IDENTITY_REQUIRED } from "./challenge.ts";

const WRONG_KIND: Record<string, string> = {
  agent: "This operation needs an agent's token, from POST /v1/auth/token.",
  user: "This operation is for people: sign in with POST /v1/auth/login.",
  org_admin: "This operation needs a user with the role admin: ask an admin of the organisation.",
};

/** Checks whether a caller may use an operation under its contract; throws the fault that says why not. */
export function requireAccess(op: Operation, caller: Caller): void {
  const { access } = op;
  if (access.by === "public" || access.by === "operator" || access.by === "monitor") return;
  if (!isKind(access.by, caller)) {
    const code: FaultCode = (access.by === "agent" && access.otherwise) || "forbidden";
    // The token is valid: a client that treats this 401 as its expiry would sign out, or refresh it forever.
    if (code === "authentication_failed")
      throw new Fault(
        code,
        "Your token is valid, but belongs to a person. This operation needs an agent's token, from POST /v1/auth/token.",
        { reason: AGENT_IDENTITY_REQUIRED },
      );
    const details = code === "validation_error" ? { field: "authorization" } : {};
    throw new Fault(code, WRONG_KIND[access.by] as string, details);
  }
  if (op.outlives && caller.kind === "agent" && caller.approved_by !== undefined)
    throw forbidden(
      "A connection that a person has approved cannot create credentials, which would outlive the approval: sign in as a " +
        "person, or use an API key.",
    );
  if (access.scope && !hasScope(caller, access.scope) && !op.scopeRefusal) {
    throw lacksScope(access.scope, `This operation needs the scope ${access.scope}: use a key that has it.`);
  }
}

/** Whether a caller lacks the scope of an operation that reports this in its answer instead of an error. */
export function isRefusedInBand({ access, scopeRefusal }: Operation, caller: Caller): boolean {
  if (!scopeRefusal) return false;
  return "scope" in access && access.scope !== undefined && !hasScope(caller, access.scope);
}

function isKind(by: "any" | "agent" | "user" | "org_admin", caller: Caller): boolean {
  if (by === "any") return true;
  if (by === "agent") return caller.kind === "agent";
  return caller.kind === "user" && (by === "user" || caller.role === "admin");
}

const HARMLESS = new Set(["GET", "HEAD"]);
/** Requests from our own pages, or from an address that the user typed. */
const OWN_SITES = new Set(["same-origin", "none"]);

/** Returns the Authorization of a request: the header, else the token of the browser's session cookie. */
export function authorizationOf(req: IncomingMessage, publicUrl: string | null): string | undefined {
  const { authorization, cookie } = req.headers;
  if (authorization !== undefined || cookie === undefined) return authorization;
  const token = sessionToken(cookie, publicUrl);
  return token === null ? undefined : `Bearer ${token}`;
}

/**
 * Browsers send the cookie with requests from any page; only ours are allowed. Changes must also carry the session's
 * CSRF token, which other sites cannot read. @throws Fault forbidden
 */
export function requireOwnPage(req: IncomingMessage, caller: Caller, secrets: SecretBox): void {
  if (req.headers.authorization !== undefined) return;
  const site = req.headers["sec-fetch-site"];
  if (site !== undefined && !OWN_SITES.has(site as string))
    throw forbidden(
      "A session cookie is accepted only from the console's own pages. Elsewhere, send a bearer token.",
    );
  if (HARMLESS.has(req.method as string)) return;
  if (isCsrfToken(secrets, caller.token_id, String(req.headers["x-csrf-token"] ?? ""))) return;
  throw forbidden("The header X-CSRF-Token is missing or wrong: send the value from GET /v1/auth/session.");
}

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
  /** By Authorization, in the order of their last use. Invalid ones are never kept. */
  readonly #entries = new Map<string, Entry>();
  /** Verifications in progress, and those that a suspended tenant's caller got lately. */
  readonly #pending = new Map<string, Promise<Caller>>();
  readonly #checks: Loop;
  readonly #verifications = {
    token: new Verifications((tokens) => this.#call("auth.verify_all", { tokens })),
    hash: new Verifications((hashes) => this.#call("auth.verify_keys", { hashes })),
  };
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
   * @throws Fault authentication_failed (missing or invalid token), service_unavailable (cannot be verified now).
   */
  resolve(req: IncomingMessage): Caller | Promise<Caller> {
    const authorization = authorizationOf(req, this.#publicUrl);
    if (authorization === undefined)
      throw unauthenticated(
        "The header Authorization is missing: send Bearer <access token> or Bearer <API key>.",
      );
    const entry = this.#entries.get(authorization);
    if (!entry || isOver(entry) || !isTrusted(entry)) return this.#verify(authorization);
    entry.used = true;
    return entry.caller;
  }

  /**
   * Calls `refuse` once the caller of an open request, resolved before, is refused. @returns a function that ends this
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

  async #ask(authorization: string, { kind, value }: Credential): Promise<Caller> {
    const checked_at = performance.now();
    try {
      const caller = await this.#verifications[kind].verify(value);
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
        if (!caller || isOver(entry)) this.#drop(authorization, entry, unauthenticated(OVER));
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
interface Credential {
  kind: "token" | "hash";
  value: string;
}

const LONGEST_TOKEN = 4096;
const TOKEN = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;
const KEY = new RegExp(`^Bearer +(${API_KEY_PATTERN.slice(1, -1)})$`, "i");

/** @throws Fault authentication_failed for an Authorization that has another form */
function credentialOf(authorization: string): Credential {
  const isShort = authorization.length <= LONGEST_TOKEN;
  const token = isShort && TOKEN.exec(authorization)?.[1];
  if (token) return { kind: "token", value: token };
  const key = isShort && KEY.exec(authorization)?.[1];
  if (key) return { kind: "hash", value: hashApiKey(key) };
  throw unauthenticated(
    "The header Authorization is malformed: expected Bearer <access token> or Bearer <API key>.",
  );
}

const OVER = "The token or API key was revoked or has expired, or its owner is not active.";

function cannotVerify(): Fault {
  return unavailable("Tokens cannot be verified right now. Retry in 1 s.");
}

/** Calls at once for each kind of credential; those that come meanwhile are verified together when one of them ends. */
const AT_ONCE = 4;
const MOST_TOGETHER = 100;

interface Waiting {
  value: string;
  resolve: (caller: Caller) => void;
  reject: (err: unknown) => void;
}

/** Verifies credentials of new callers: of many that come at once, as after a restart of a gateway, by few calls. */
class Verifications {
  readonly #verify: (values: string[]) => Promise<unknown>;
  readonly #waiting: Waiting[] = [];
  #calls = 0;

  constructor(verify: (values: string[]) => Promise<unknown>) {
    this.#verify = verify;
  }

  /** Returns the caller of a credential. @throws Fault authentication_failed */
  verify(value: string): Promise<Caller> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ value, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#calls >= AT_ONCE || this.#waiting.length === 0) return;
    this.#calls++;
    void this.#settle(this.#waiting.splice(0, MOST_TOGETHER)).finally(() => {
      this.#calls--;
      this.#next();
    });
  }

  async #settle(batch: Waiting[]): Promise<void> {
    try {
      const verified = (await this.#verify(batch.map(({ value }) => value))) as Verified[];
      for (const [i, { resolve, reject }] of batch.entries()) {
        const { caller, fault } = verified[i] as Verified;
        if (caller) resolve(caller);
        else reject(unauthenticated(fault.message, fault.data));
      }
    } catch (err) {
      for (const { reject } of batch) reject(err);
    }
  }
}
