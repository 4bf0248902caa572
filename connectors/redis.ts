import { connectRedis, type RedisClient } from "./redis-client.ts";

/** The state of the windows that all nodes share. */
interface SharedStanding {
  /** False if a key was at its limit: then nothing was counted. */
  allowed: boolean;
  /** Index of the key with the least capacity left. */
  tightest: number;
  remaining: number;
  /** Milliseconds until the tightest key's oldest hit stops counting. */
  resets_in_ms: number;
  /** The slot in which the hit was counted, for `giveBack`. */
  slot: number;
}

interface Options {
  /** Length of the windows. */
  windowMs: number;
  /** The longest wait of a request. Default 25. */
  patienceMs?: number;
  /** Called once when Redis is lost, and once with null when it is back for good. */
  report(lost: string | null): void;
  /** How long it must be back for that. Default 30,000. */
  steadyMs?: number;
}

/** Below what a person notices, and far above the latency of a nearby Redis. */
const PATIENCE_MS = 25;
const PROBE_MS = 500;
/** A connection is reopened after this many unanswered probes: the other end may have gone without notice. */
const SILENT_PROBES = 6;
/** A slow Redis comes and goes many times a minute, each time with a line in the log. */
const STEADY_MS = 30_000;
const PREFIX = "sensorium ";

/**
 * Counts hits per key in sliding windows that all nodes share through Redis, in one round trip each. While Redis is
 * lost or slow every answer is null at once and the caller counts locally. The connection recovers by itself.
 */
export class SharedWindows {
  readonly #redis: RedisClient;
  readonly #windowMs: number;
  readonly #patienceMs: number;
  readonly #report: Options["report"];
  readonly #steadyMs: number;
  readonly #probes: NodeJS.Timeout;
  #lost: string | null = "not connected yet";
  #reported: "nothing" | "lost" | "back" = "nothing";
  #steady: NodeJS.Timeout | undefined;
  #silent = 0;
  /** Where it was asked last: in a Cluster, one part may be lost and the others not. */
  #asked = PREFIX;

  /** Starts connecting without waiting for it. @param url of one Redis, a Cluster, or one behind Sentinels */
  constructor(url: string, { windowMs, patienceMs = PATIENCE_MS, steadyMs = STEADY_MS, report }: Options) {
    this.#steadyMs = steadyMs;
    this.#windowMs = windowMs;
    this.#patienceMs = patienceMs;
    this.#report = report;
    this.#redis = connectRedis(url);
    this.#redis.on("error", (err) => this.#lose(err.message));
    this.#redis.on("close", () => this.#lose("the connection closed"));
    this.#redis.on("ready", () => this.#probe());
    this.#probes = setInterval(() => this.#probe(), PROBE_MS).unref();
  }

  /** Why Redis is not in use now; null while it is. */
  get lost(): string | null {
    return this.#lost;
  }

  /**
   * Counts a hit against every key, or against none if one is at its limit; null if Redis does not answer. Several keys
   * have the same `{tag}` in them, which keeps them on one node of a Cluster.
   */
  async take(limits: readonly { key: string; max: number }[]): Promise<SharedStanding | null> {
    if (this.#lost !== null) return null;
    const keys = limits.map(({ key }) => PREFIX + key);
    const most = limits.map(({ max }) => max);
    this.#asked = keys[0] as string;
    const asked = this.#redis.sensoriumTake(keys.length, ...keys, this.#windowMs, ...most);
    const answer = await this.#inTime(asked);
    if (!answer) return null;
    const [allowed, tightest, remaining, resets_in_ms, slot] = answer as [
      number,
      number,
      number,
      number,
      number,
    ];
    return { allowed: allowed === 1, tightest, remaining, resets_in_ms, slot };
  }

  /** Takes back hits counted in a slot. If Redis is lost, they remain until their window ends. */
  async giveBack(keys: readonly string[], slot: number): Promise<void> {
    if (this.#lost !== null) return;
    const named = keys.map((key) => PREFIX + key);
    await this.#inTime(this.#redis.sensoriumGiveBack(named.length, ...named, slot));
  }

  /** Closes the connection. */
  close(): void {
    clearInterval(this.#probes);
    clearTimeout(this.#steady);
    this.#redis.removeAllListeners();
    // Without a listener an error would be thrown.
    this.#redis.on("error", () => {});
    this.#redis.disconnect();
  }

  /** Returns Redis's answer, or undefined on failure or delay; Redis is then not used until a probe succeeds. */
  #inTime<T>(asked: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const late = () => {
        this.#lose(`no response within ${this.#patienceMs} ms`);
        resolve(undefined);
      };
      // An answer that arrived while this process was busy is read before the immediate, and counts.
      const timer = setTimeout(() => setImmediate(late), this.#patienceMs);
      asked
        .then(resolve, (err: Error) => {
          this.#lose(err.message);
          resolve(undefined);
        })
        .finally(() => clearTimeout(timer));
    });
  }

  #lose(why: string): void {
    clearTimeout(this.#steady);
    this.#lost = why;
    if (this.#reported === "lost") return;
    this.#reported = "lost";
    this.#report(why);
  }

  #regain(): void {
    this.#lost = null;
    const report = () => {
      this.#reported = "back";
      this.#report(null);
    };
    if (this.#reported === "lost") this.#steady = setTimeout(report, this.#steadyMs).unref();
    else report();
  }

  /** Probes a lost Redis, one probe at a time. */
  #probe(): void {
    if (this.#lost === null || this.#redis.status !== "ready") return;
    if (this.#silent > 0) {
      if (++this.#silent > SILENT_PROBES) this.#redis.disconnect(true);
      return;
    }
    this.#silent = 1;
    this.#redis
      .exists(this.#asked)
      .then(
        () => this.#regain(),
        () => {},
      )
      .finally(() => {
        this.#silent = 0;
      });
  }
}
