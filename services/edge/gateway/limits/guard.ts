import type { Config } from "../../../../config.ts";
import type { SharedWindows } from "../../../../connectors/redis.ts";
import { accountTag, isAccount, knownDevice } from "../../../../lib/access/device-cookie.ts";
import type { Operation } from "../../../../lib/contract/contract.ts";
import { FAULTS, type Fault, rateLimited } from "../../../../lib/contract/faults.ts";
import type { SecretBox } from "../../../../lib/crypto/secrets.ts";
import { networkOf } from "../../../../lib/http/network-address.ts";
import type { Limit, Taken } from "../../../../lib/queue/sliding-window.ts";
import { TokenBuckets } from "../../../../lib/queue/token-bucket.ts";
import { RateWindows, WINDOW_SECONDS } from "../../../../observability/rate-windows.ts";
import { toFault } from "../answer/respond.ts";
import type { HttpExchange } from "../http-exchange.ts";

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
 * Counts wrong credentials of all kinds. What is cheap to check and cannot be found by guessing is checked first, so that a
 * right one passes whatever failed before; only the answer to a wrong one becomes 429. What is expensive to check, or
 * short, is admitted before (`tries` of the contract), by its account and address.
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
   * given back when it succeeds.
   *
   * @throws Fault rate_limited without trying
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
   *
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
    // What is in braces keeps both keys on one node of a Redis Cluster.
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

/** What is read of a request that failed, whose operation may not be known. */
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
