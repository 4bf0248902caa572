import { Cluster, type ClusterNode, Redis, type RedisOptions, type Result } from "ioredis";
import { readCredentials } from "../lib/http/address-credentials.ts";

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
  windowMs: number;
  /** The longest wait of a request. Default 25. */
  patienceMs?: number;
  /** Called once when Redis is lost, and once with null when it is back to stay. */
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
  readonly #options: Required<Options>;
  readonly #probes: NodeJS.Timeout;
  #lost: string | null = "not connected yet";
  #reported: "nothing" | "lost" | "back" = "nothing";
  #steady: NodeJS.Timeout | undefined;
  #silent = 0;
  /** Where it was asked last: in a Cluster, one part may be lost and the others not. */
  #asked = PREFIX;

  /** Starts connecting without waiting for it. @param url of one Redis, a Cluster, or one behind Sentinels */
  constructor(url: string, options: Options) {
    this.#options = { patienceMs: PATIENCE_MS, steadyMs: STEADY_MS, ...options };
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
    const taking = this.#redis.sensoriumTake(keys.length, ...keys, this.#options.windowMs, ...most);
    const answer = await this.#inTime(taking);
    if (!answer) return null;
    const [allowed, tightest, remaining, resets_in_ms, slot] = answer;
    return { allowed: allowed === 1, tightest, remaining, resets_in_ms, slot };
  }

  /** Takes back hits counted in a slot. If Redis is lost, they remain until their window ends. */
  async giveBack(keys: readonly string[], slot: number): Promise<void> {
    if (this.#lost !== null) return;
    const named = keys.map((key) => PREFIX + key);
    await this.#inTime(this.#redis.sensoriumGiveBack(named.length, ...named, slot));
  }

  close(): void {
    clearInterval(this.#probes);
    clearTimeout(this.#steady);
    this.#redis.removeAllListeners();
    // Without a listener an error would be thrown.
    this.#redis.on("error", () => {});
    this.#redis.disconnect();
  }

  /** Returns Redis's answer, or undefined on failure or delay; Redis is then not used until a probe succeeds. */
  #inTime<T>(answer: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const late = () => {
        this.#lose(`no response within ${this.#options.patienceMs} ms`);
        resolve(undefined);
      };
      // An answer that arrived while this process was busy is read before the immediate, and counts.
      const timer = setTimeout(() => setImmediate(late), this.#options.patienceMs);
      answer
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
    this.#options.report(why);
  }

  #regain(): void {
    this.#lost = null;
    const report = () => {
      this.#reported = "back";
      this.#options.report(null);
    };
    if (this.#reported === "lost") this.#steady = setTimeout(report, this.#options.steadyMs).unref();
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

// The same rule as lib/queue/sliding-window.ts, on Redis's clock, so that nodes with different clocks count alike.
const TAKE = `
local SLOTS = 60
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local width = ARGV[1] / SLOTS
local slot = math.floor(now / width)
local tightest, least, free_at = 1, nil, 0
for i, key in ipairs(KEYS) do
  local total, oldest = 0, slot
  local counts = redis.call('HGETALL', key)
  for at = 1, #counts, 2 do
    local each, hits = tonumber(counts[at]), tonumber(counts[at + 1])
    if each <= slot - SLOTS then
      redis.call('HDEL', key, counts[at])
    elseif hits > 0 then
      total = total + hits
      oldest = math.min(oldest, each)
    end
  end
  local room = ARGV[i + 1] - total
  if not least or room < least then
    tightest, least, free_at = i, room, (oldest + SLOTS) * width
  end
end
local name = string.format('%d', slot)
if least > 0 then
  for _, key in ipairs(KEYS) do
    redis.call('HINCRBY', key, name, 1)
    redis.call('PEXPIRE', key, ARGV[1] + width)
  end
end
return {least > 0 and 1 or 0, tightest - 1, math.max(least - 1, 0), math.ceil(free_at - now), slot}`;

const GIVE_BACK = `
for _, key in ipairs(KEYS) do
  if tonumber(redis.call('HGET', key, ARGV[1]) or 0) > 0 then redis.call('HINCRBY', key, ARGV[1], -1) end
end`;

type TakeAnswer = [allowed: number, tightest: number, remaining: number, resets_in_ms: number, slot: number];

declare module "ioredis" {
  interface RedisCommander<Context> {
    sensoriumTake(keys: number, ...args: (string | number)[]): Result<TakeAnswer, Context>;
    sensoriumGiveBack(keys: number, ...args: (string | number)[]): Result<null, Context>;
  }
}

type RedisClient = Redis | Cluster;

const LONGEST_RETRY_MS = 1000;
const SEVERAL =
  /^redis(?<tls>s?)\+(?<kind>cluster|sentinel):\/\/(?<credentials>[^@/]*@)?(?<servers>[^/?]+)(?<rest>.*)$/;
const PORTS = { cluster: 6379, sentinel: 26379 };

const retryStrategy = (times: number) => Math.min(times * 100, LONGEST_RETRY_MS);
/** A command that cannot be sent now is useless later. */
const AT_ONCE = { enableOfflineQueue: false, maxRetriesPerRequest: 0 };
const scripts = { sensoriumTake: { lua: TAKE }, sensoriumGiveBack: { lua: GIVE_BACK } };

/** Starts connecting to one Redis, a Cluster, or the master that Sentinels name, as `REDIS_URL` says. */
function connectRedis(url: string): RedisClient {
  const several = SEVERAL.exec(url)?.groups;
  if (!several) return new Redis(url, { ...AT_ONCE, retryStrategy, scripts });
  const { tls: isTls, kind, credentials = "", servers = "", rest } = several;
  const urls = servers.split(",").map((server) => new URL(`redis://${credentials}${server}${rest}`));
  const [first] = urls as [URL];
  const tls = isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {};
  const redisOptions = { ...readCredentials(first), ...tls };
  const nodes = urls.map(({ hostname, port }) => {
    const usual = PORTS[kind as keyof typeof PORTS];
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || usual) };
  });
  return kind === "cluster" ? connectCluster(nodes, redisOptions) : connectByName(nodes, first, redisOptions);
}

/** Finds the other nodes, and those that replace failed ones, by itself. */
function connectCluster(nodes: ClusterNode[], redisOptions: RedisOptions): Cluster {
  return new Cluster(nodes, {
    ...{ enableOfflineQueue: false, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 },
    clusterRetryStrategy: retryStrategy,
    // Certificates are for names.
    dnsLookup: (name, found) => found(null, name),
    redisOptions,
    scripts,
  });
}

/** Asks the Sentinels for the master with each connection, so also after a failover. */
function connectByName(
  sentinels: { host: string; port: number }[],
  { pathname, searchParams }: URL,
  options: RedisOptions,
): Redis {
  const own = searchParams.get("sentinel_password");
  return new Redis({
    ...{ ...AT_ONCE, ...options, retryStrategy, scripts, sentinels },
    ...{ name: decodeURIComponent(pathname.slice(1)), sentinelRetryStrategy: retryStrategy },
    ...(own && { sentinelPassword: own }),
    // A master that has become a replica.
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  });
}
