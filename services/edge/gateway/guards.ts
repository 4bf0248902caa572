import type { ServiceBroker } from "moleculer";
import type { Config } from "../../../config.ts";
import type { SharedWindows } from "../../../connectors/redis.ts";
import { type Caller, callerId } from "../../../lib/access/caller.ts";
import { accountTag, isAccount, knownDevice } from "../../../lib/access/device-cookie.ts";
import { isWithinQuota, type Operation } from "../../../lib/contract/contract.ts";
import { FAULTS, type Fault, rateLimited, unavailable } from "../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../lib/http/network-address.ts";
import type { FairQueue, Share } from "../../../lib/queue/fair-queue.ts";
import type { Limit, Taken } from "../../../lib/queue/sliding-window.ts";
import { TokenBuckets } from "../../../lib/queue/token-bucket.ts";
import type { DiskWatch } from "../../platform/admission/disk.ts";
import type { Modes } from "../../platform/admission/modes.ts";
import { RateWindows, WINDOW_SECONDS } from "../../platform/admission/rate-windows.ts";
import { resourceQueue } from "../../platform/admission/resources.ts";
import type { StorageUsage } from "../../platform/usage/usage.ts";
import { toFault } from "./answer/respond.ts";
import type { Allowance, HttpExchange } from "./http-exchange.ts";

interface RateLimitSettings {
  RATE_LIMIT_PER_MINUTE: number;
  TENANT_RATE_LIMIT_PER_MINUTE: number;
}

/** The limits of authenticated callers: one per agent or user, one per key that has its own, one per tenant. 0 is none. */
export class CallerLimits {
  readonly #perCaller: number;
  readonly #perTenant: number;
  readonly #windows: RateWindows;

  constructor(settings: RateLimitSettings, windows: RateWindows) {
    this.#perCaller = settings.RATE_LIMIT_PER_MINUTE;
    this.#perTenant = settings.TENANT_RATE_LIMIT_PER_MINUTE;
    this.#windows = windows;
  }

  /** Counts a request; null without limits. The edge refuses requests over a limit. */
  take(caller: Caller, now: number): Allowance | Promise<Allowance> | null {
    const limits: Limit[] = [];
    // The braces keep both keys on one node of a Redis Cluster.
    const tenant = `rate {${caller.tenant_id}}`;
    if (this.#perCaller) limits.push({ key: `${tenant} ${callerId(caller)}`, max: this.#perCaller });
    const { key, tenant: perTenant = this.#perTenant } = caller.limits ?? {};
    if (key && caller.kind === "agent") limits.push({ key: `${tenant} ${caller.key_id}`, max: key });
    if (perTenant) limits.push({ key: tenant, max: perTenant });
    return limits.length ? this.#windows.take(limits, now) : null;
  }
}

/** Returns the fault for a request over a limit (spec: rate_limited). */
export function overLimit({ limit, resets_at }: Allowance, now: number): Fault {
  const message = `More than ${limit} requests in ${WINDOW_SECONDS} s. Retry`;
  return rateLimited(message, limit, WINDOW_SECONDS, resets_at - now);
}

const RETRY_AFTER_SECONDS = 30;
/** Signing in, renewing that and ending it. */
const SIGN_IN = /^(auth\.|oauth\.(token|revoke)$)/;

/**
 * Refuses writes while the disk is nearly full: half a write is worse than none. Deletes and signing in, which deleting
 * needs, stay possible. @throws Fault service_unavailable
 */
export function requireSpace(op: Operation, disk: Pick<DiskWatch, "refusesWrites">): void {
  const { method, action, stream, reads } = op;
  if (method === "GET" || method === "DELETE" || stream || reads) return;
  if (!disk.refusesWrites || SIGN_IN.test(action)) return;
  throw unavailable(
    "The disk is nearly full. Writes are refused until the operator frees space.",
    RETRY_AFTER_SECONDS,
  );
}

/**
 * Refuses writes during maintenance, except the operator's, signing in, which reading needs, and what settles, keeps or
 * receives deliveries. @throws Fault service_unavailable
 */
export function requireWrites(op: Operation, modes: Pick<Modes, "requireWrites">): void {
  const { method, action, stream, reads, reserved, takes, access } = op;
  if (stream || reads || reserved || takes || method === "GET" || access.by === "operator") return;
  if (!SIGN_IN.test(action)) modes.requireWrites();
}

/**
 * Refuses writes beyond the tenant's quota. Large fields are counted when they are put into blobs.
 * @throws Fault business_rule_violation
 */
export function requireQuota(
  { op, req, caller }: HttpExchange,
  usage: Pick<StorageUsage, "require">,
): void | Promise<void> {
  if (!caller || !isWithinQuota(op)) return;
  return usage.require(caller.tenant_id, op.byReference ? 0 : Number(req.headers["content-length"] ?? 0));
}

const SAMPLE_MS = 250;
/** Limits of open streams and changes that wait: in total, and per caller. */
const MAX_OPEN = 20_000;
const MAX_OPEN_OF_CALLER = 200;

/** Gives a place back, once. */
export type Leave = () => void;

/**
 * Refuses work that would only wait (spec: service_unavailable): with too many writes or streams, or if the event loop
 * is late by more than a second twice in a row (it recovers from a single pause). Reads are not counted: thousands of
 * waiting polls cost nothing.
 */
export class Overload {
  readonly #maxLagMs: number;
  /** With as many reserved for those that free capacity, or keep work alive. */
  readonly #writes: FairQueue;
  /** Streams, and changes that may wait for long: a wait takes no place of writes. */
  readonly #open = resourceQueue("streams", {
    ...{ capacity: MAX_OPEN, perCaller: MAX_OPEN_OF_CALLER, maxWaiting: 0 },
  });
  #lagMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxWrites: number, maxLagMs = 1000) {
    const bounds = { capacity: maxWrites, reserve: maxWrites, perCaller: Math.ceil(maxWrites / 4) };
    this.#writes = resourceQueue("writes", { ...bounds, maxWaiting: 0 });
    this.#maxLagMs = maxLagMs;
  }

  start(): void {
    let due = performance.now() + SAMPLE_MS;
    let before = 0;
    this.#timer = setInterval(() => {
      const now = performance.now();
      const late = now - due;
      this.#lagMs = Math.min(before, late);
      before = late;
      due = now + SAMPLE_MS;
    }, SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * @throws Fault service_unavailable while the event loop is late, except for reads without a token, which report the
   * state
   */
  requireTimely({ method, access }: Operation): void {
    if (method === "GET" && access.by === "public") return;
    if (this.#lagMs > this.#maxLagMs) throw unavailable("This node is overloaded. Retry in 1 s.");
  }

  /** Takes a place for a write or a stream; null for uncounted operations. @throws Fault as `FairQueue.enter` */
  enter(op: Operation, share: Share): Leave | null {
    if (op.stream) return this.#open.enter(share);
    if (op.method === "GET") return null;
    return op.waits ? this.#open.enter(share) : this.#writes.enter(share, 1, op.reserved);
  }
}

/**
 * Refuses what nodes of an earlier version would break, while there are some.
 * @param params of the action, not validated yet
 * @throws Fault service_unavailable
 */
export async function requireFormats(
  broker: ServiceBroker,
  { needs = {}, method, url }: Operation,
  params: unknown,
): Promise<void> {
  for (const [path, format] of Object.entries(needs)) {
    if (path !== "*" && !isGiven(params, path.split("."))) continue;
    const what = path === "*" ? `${method} ${url}` : path;
    await broker.call("nodes.require_format", { format, what }, { nodeID: broker.nodeID });
  }
}

/** Whether there is a value at a path, which leads through all items of lists. */
function isGiven(value: unknown, path: readonly string[]): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.some((each) => isGiven(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return true;
  return typeof value === "object" && isGiven((value as Record<string, unknown>)[name], rest);
}

/** A device that polls before its approval is early, and a rate-limited one was not tried. */
const NO_FAILURES = new Set([409, 429]);
/** Reasons to refuse a credential that is genuine: it was not guessed. */
const GENUINE = new Set(["suspended", "ended", "agent_identity_required"]);

/** Tries of an address that are checked at once: each costs an Argon2 run. */
const AT_ONCE = 4;
const MOST_WAITING = 100;
/** The limit of an address for tries of all accounts, as a multiple of that for one. */
const ACCOUNTS = 10;

/** Processor time of this node that an address may spend on requests to an operation that fail, in ms. */
const CPU_MS_PER_SECOND = 50;
const CPU_BURST_MS = 1000;
/** Reading and copying a body. */
const BYTES_PER_MS = 500_000;

type Settings = Pick<Config, "LOGIN_ATTEMPTS_PER_MINUTE" | "PUBLIC_FAILURES_PER_MINUTE" | "PUBLIC_URL">;

/** The tries of a source on this node. */
interface Lane {
  running: number;
  waiting: (() => void)[];
}

/**
 * Counts wrong credentials of all kinds. Those that are cheap to check and cannot be guessed are checked first, so that a
 * right one passes whatever failed before; only the answer to a wrong one becomes 429. Those that are expensive to
 * check, or short, are admitted before (`tries` of the contract), by account and address.
 */
export class CredentialGuard {
  readonly #settings: Settings;
  readonly #secrets: SecretBox;
  readonly #windows: RateWindows;
  readonly #lanes = new Map<string, Lane>();
  readonly #cpu = new TokenBuckets(CPU_MS_PER_SECOND, CPU_BURST_MS);

  constructor(settings: Settings, secrets: SecretBox, windows: SharedWindows | null) {
    this.#settings = settings;
    this.#secrets = secrets;
    this.#windows = new RateWindows(windows);
  }

  /** Returns what a request is answered that failed: the fault, or 429 for one more wrong credential than the limit. */
  async judge({ op, caller, req, ctx }: Judged, fault: Fault): Promise<Fault> {
    const max = this.#settings.PUBLIC_FAILURES_PER_MINUTE;
    if (!op || !ctx || !max || caller || !isWrong(fault)) return fault;
    const { by } = op.access;
    const isGiven = by === "public" || req.headers.authorization !== undefined || req.headers.cookie;
    if (!isGiven || (by !== "public" && fault.type !== "authentication_failed")) return fault;
    const what = by === "public" ? op.action : by === "operator" || by === "monitor" ? by : "token";
    const key = `wrong ${what} ${networkOf(ctx.meta.ip ?? "")}`;
    const now = Date.now();
    const taken = await this.#windows.take([{ key, max }], now);
    return taken.allowed ? fault : tooMany(taken, now);
  }

  /**
   * Tries the credential of a request that names its account, or is its caller's. A try counts from its beginning, and is
   * given back when it succeeds. @throws Fault rate_limited without trying
   */
  async try<T>(exchange: HttpExchange, params: Record<string, unknown>, check: () => Promise<T>): Promise<T> {
    if (!this.#settings.LOGIN_ATTEMPTS_PER_MINUTE) return check();
    const { source, limits } = this.#limitsOf(exchange, params);
    await this.#enter(source);
    let giveBack = () => {};
    try {
      const now = Date.now();
      const taken = await this.#windows.take(limits, now);
      if (!taken.allowed) throw tooMany(taken, now);
      giveBack = () => taken.giveBack();
      return await check();
    } catch (err) {
      if (isWrong(toFault(err))) giveBack = () => {};
      throw err;
    } finally {
      giveBack();
      this.#leave(source);
    }
  }

  /**
   * Executes a request without a token; charges its processor time to the address if it fails.
   * @throws Fault rate_limited, before reading the body.
   */
  async charge<T>({ op, caller, ctx, req }: HttpExchange, carryOut: () => Promise<T>): Promise<T> {
    // Reads have no body, and answer while an address waits.
    if (op.access.by !== "public" || caller || op.method === "GET") return carryOut();
    const key = `${op.action} ${networkOf(ctx.meta.ip ?? "")}`;
    const waitMs = this.#cpu.waitOf(key, performance.now());
    const message = "Failed requests from this address took too much time. Retry";
    if (waitMs > 0) throw rateLimited(message, CPU_MS_PER_SECOND, 1, waitMs);
    const readBefore = req.socket.bytesRead;
    try {
      return await carryOut();
    } catch (err) {
      const spentMs = (ctx.meta.$cpu_ms ?? 0) + (req.socket.bytesRead - readBefore) / BYTES_PER_MS;
      if (isWrong(toFault(err))) this.#cpu.take(key, spentMs, performance.now());
      throw err;
    }
  }

  /** Returns what a try counts for: a person, a browser that its account has signed in from, or an account and address. */
  #limitsOf({ caller, ctx, req }: HttpExchange, { email }: Record<string, unknown>): Tried {
    const { LOGIN_ATTEMPTS_PER_MINUTE: max, PUBLIC_URL } = this.#settings;
    const alone = (source: string) => ({ source, limits: [{ key: `tries ${source}`, max }] });
    if (caller?.kind === "user") return alone(caller.user_id);
    const account = typeof email === "string" ? email : "";
    const device = account && knownDevice(this.#secrets, req.headers.cookie, PUBLIC_URL);
    if (device && isAccount(this.#secrets, device, account)) return alone(`device ${device.id}`);
    const source = networkOf(ctx.meta.ip ?? "");
    // The braces keep both keys on one node of a Redis Cluster.
    const key = `tries {${source}}`;
    const named = account && [{ key: `${key} ${accountTag(this.#secrets, account)}`, max }];
    return { source, limits: [...(named || []), { key, max: max * ACCOUNTS }] };
  }

  /** Waits for one of a source's places. @throws Fault rate_limited if too many wait */
  async #enter(source: string): Promise<void> {
    const lane = this.#lanes.get(source) ?? { running: 0, waiting: [] };
    this.#lanes.set(source, lane);
    if (lane.running < AT_ONCE) lane.running++;
    else if (lane.waiting.length < MOST_WAITING) await new Promise<void>((begin) => lane.waiting.push(begin));
    else throw rateLimited("Too many tries at once. Retry", AT_ONCE, 1, 1000);
  }

  /** Passes the place on, or gives it up. */
  #leave(source: string): void {
    const lane = this.#lanes.get(source) as Lane;
    const next = lane.waiting.shift();
    if (next) next();
    else if (--lane.running === 0) this.#lanes.delete(source);
  }
}

/** The read part of a failed request, whose operation may be unknown. */
type Judged = Pick<HttpExchange, "req" | "caller"> & { op?: Operation; ctx?: { meta: { ip?: string } } };

interface Tried {
  source: string;
  limits: Limit[];
}

/** Whether a fault says that a credential is wrong. One whose first part is right, or that comes too early, is not. */
function isWrong({ type, data }: Fault): boolean {
  const { status } = FAULTS[type as keyof typeof FAULTS];
  const { reason } = (data ?? {}) as { reason?: unknown };
  const isOther = type === "totp_required" || GENUINE.has(reason as string);
  return !isOther && status < 500 && !NO_FAILURES.has(status);
}

function tooMany({ limit, resets_at }: Taken, now: number): Fault {
  return rateLimited("Too many failed attempts. Retry", limit, WINDOW_SECONDS, resets_at - now);
}
