import type { IncomingMessage } from "node:http";
import type { ServiceBroker } from "moleculer";
import type { Caller } from "../../../../lib/access/caller.ts";
import { Fault, isFault, unavailable } from "../../../../lib/contract/faults.ts";
import type { AccessVersions } from "../../../../storage/access/access-versions.ts";
import type { AuthChange } from "../../../identity/tenants/auth-change.ts";
import type { Refuse } from "../exchange.ts";
import { authorizationOf } from "./browser.ts";
import { CallerEntries, type Entry } from "./caller-entries.ts";
import { asBefore, type Credential, credentialOf } from "./credential.ts";
import { KnownVersions } from "./known-versions.ts";

const REFRESH_MS = 2000;
/** Counted from the beginning of a read: below the 5 s within which a revocation takes effect on every node. */
const TRUSTED_MS = 4500;
/**
 * Callers in use are read this often whatever their version, because somebody may have changed the rows by hand. It notes
 * the use of their keys, too, which is a write for each.
 */
const LONGEST_UNREAD_MS = 300_000;
const CALL_TIMEOUT_MS = 3000;
const CHUNK = 1000;

/**
 * Resolves the caller of a request. Verifying a token costs a hundred microseconds and some look-ups, so verified
 * callers are cached by the Authorization header. Every 2 s, one statement reads the access versions of the tenants in
 * use; callers are read again, all in one call, only if their version has risen. A caller whose version could not be
 * read is not trusted: its requests wait for the same statement, or get a retryable error.
 */
export class CallerCache {
  readonly #broker: ServiceBroker;
  readonly #publicUrl: string | null;
  readonly #versions: KnownVersions;
  readonly #entries = new CallerEntries();
  readonly #pending = new Map<string, Promise<Caller>>();
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  #stopped = true;
  /** Log once, not per request, until tokens can be verified again. */
  #said = false;

  /** @param publicUrl determines the name of a browser's session cookie */
  constructor(
    broker: ServiceBroker,
    versions: Pick<AccessVersions, "read">,
    publicUrl: string | null = null,
  ) {
    this.#broker = broker;
    this.#versions = new KnownVersions(versions);
    this.#publicUrl = publicUrl;
  }

  start(): void {
    this.#stopped = false;
    this.#schedule(REFRESH_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
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
      throw refused("The header Authorization is missing: send Bearer <access token> or Bearer <API key>.");
    const header = asBefore(req, authorization);
    const entry = this.#entries.get(header);
    if (!entry || isOver(entry)) return this.#verify(header, ip);
    entry.used = true;
    return this.#isTrusted(entry) ? entry.caller : this.#confirm(header, ip);
  }

  /**
   * Calls `refuse` once the caller of an open request, resolved before, is refused.
   *
   * @returns a function that ends this
   */
  watch(req: IncomingMessage, refuse: Refuse): () => void {
    const authorization = authorizationOf(req, this.#publicUrl) ?? "";
    const open = this.#entries.get(asBefore(req, authorization))?.open;
    if (!open) {
      // Refused since it was resolved, or displaced by others.
      queueMicrotask(() => refuse(cannotVerify()));
      return () => {};
    }
    open.add(refuse);
    return () => void open.delete(refuse);
  }

  /** Has the callers affected by a change read again, so that it takes effect here at once. */
  forget(change: AuthChange): void {
    const isOpen = this.#entries.outdate(change);
    if (isOpen) void (this.#refreshing ?? Promise.resolve()).then(() => this.#refresh());
  }

  #isTrusted({ caller, version, checked_at }: Entry): boolean {
    const known = this.#versions.at(caller.tenant_id);
    if (version !== undefined && known !== undefined && version !== known) return false;
    const seen = Math.max(checked_at, this.#versions.lastSeen(caller.tenant_id, version));
    return performance.now() - seen < TRUSTED_MS;
  }

  /** Waits until a known caller was read again, together with all others. */
  async #confirm(header: string, ip: string | undefined): Promise<Caller> {
    const until = performance.now() + CALL_TIMEOUT_MS;
    do {
      // The one in progress may have begun without this caller.
      await this.#refresh();
      const entry = this.#entries.get(header);
      // Verifying it alone gives the reason.
      if (!entry) return this.#verify(header, ip);
      if (this.#isTrusted(entry)) return entry.caller;
      entry.used = true;
    } while (!this.#said && performance.now() < until);
    throw cannotVerify();
  }

  #verify(authorization: string, ip: string | undefined): Promise<Caller> {
    const pending = this.#pending.get(authorization);
    if (pending) return pending;
    const credential = credentialOf(authorization);
    if (!credential)
      throw refused(
        "The header Authorization is malformed: expected Bearer <access token> or Bearer <API key>.",
      );
    const verified = this.#ask(authorization, credential, ip).finally(() =>
      this.#pending.delete(authorization),
    );
    this.#pending.set(authorization, verified);
    return verified;
  }

  async #ask(authorization: string, credential: Credential, ip: string | undefined): Promise<Caller> {
    const checked_at = performance.now();
    const [action, from] = "token" in credential ? ["auth.verify", undefined] : ["auth.verify_key", ip];
    try {
      const caller = (await this.#call(action, credential, from)) as Caller;
      const version = this.#versions.at(caller.tenant_id, checked_at);
      this.#entries.put(authorization, { caller, checked_at, version });
      this.#said = false;
      return caller;
    } catch (err) {
      if (!isFault(err) || err.type === "service_unavailable") throw this.#report(err);
      this.#entries.drop(authorization, this.#entries.get(authorization), err);
      throw err;
    }
  }

  /** Reads the versions of all callers in use, and those again whose version has risen. One run at a time. */
  #refresh(): Promise<void> {
    this.#refreshing ??= this.#run()
      .then(
        () => {
          this.#said = false;
        },
        (err) => void this.#report(err),
      )
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #run(): Promise<void> {
    const active = this.#entries.takeUsed();
    await this.#versions.read(new Set(active.map(([, { caller }]) => caller.tenant_id)));
    const since = performance.now() - LONGEST_UNREAD_MS;
    const isAnyOld = active.some(([, { checked_at }]) => checked_at <= since);
    // Those that are halfway there go along, so that in the long run all are read at once.
    const unread = isAnyOld ? since + LONGEST_UNREAD_MS / 2 : since;
    const due = active.filter(
      ([, { caller, version, checked_at }]) =>
        checked_at <= unread || version !== this.#versions.at(caller.tenant_id),
    );
    for (let at = 0; at < due.length; at += CHUNK) await this.#check(due.slice(at, at + CHUNK));
    for (const [header, entry] of active)
      if (isOver(entry)) this.#entries.drop(header, this.#entries.get(header), refused(OVER));
  }

  async #check(entries: [string, Entry][]): Promise<void> {
    const checked_at = performance.now();
    const callers = entries.map(([, { caller }]) => caller);
    const versions = callers.map(({ tenant_id }) => this.#versions.at(tenant_id));
    const current = (await this.#call("auth.states", { callers })) as (Caller | null)[];
    for (const [i, [header, entry]] of entries.entries()) {
      const caller = current[i];
      if (caller) this.#entries.replace(header, entry, { caller, checked_at, version: versions[i] });
      else this.#entries.drop(header, entry, refused(OVER));
    }
  }

  #report(err: unknown): Fault {
    if (!this.#said) this.#broker.logger.warn({ err }, "tokens cannot be verified");
    this.#said = true;
    return cannotVerify();
  }

  #schedule(ms: number): void {
    this.#timer = setTimeout(async () => {
      const began = performance.now();
      await this.#refresh();
      if (!this.#stopped) this.#schedule(Math.max(0, began + REFRESH_MS - performance.now()));
    }, ms).unref();
  }

  #call(action: string, params: object, ip?: string): Promise<unknown> {
    return this.#broker.call(action, params, { timeout: CALL_TIMEOUT_MS, ...(ip && { meta: { ip } }) });
  }
}

function isOver({ caller }: Entry): boolean {
  return caller.expires_at <= Date.now();
}

const OVER = "The token or API key was revoked or has expired, or its owner is not active.";

function refused(message: string): Fault {
  return new Fault("authentication_failed", message);
}

function cannotVerify(): Fault {
  return unavailable("Tokens cannot be verified right now. Retry in 1 s.");
}
