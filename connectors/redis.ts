import { Redis, type Result } from "ioredis";

/** How requests stand in windows that all nodes share. */
interface SharedStanding {
  /** False when a key had no room: then nothing was counted. */
  allowed: boolean;
  /** Which of the keys has least room. */
  tightest: number;
  remaining: number;
  /** In how many ms the tightest key's oldest hit stops counting. */
  resets_in_ms: number;
  /** The slot the hit was counted in: what `giveBack` needs. */
  slot: number;
}

interface Options {
  /** Length of the windows. */
  windowMs: number;
  /** The longest that a request waits. Default 25. */
  patienceMs?: number;
  /** Told once each time Redis is lost, and once each time it is back (null). */
  report(lost: string | null): void;
}

/** Less than a person notices, and far more than a Redis nearby takes. */
const PATIENCE_MS = 25;
const PROBE_MS = 500;
/** A connection that is silent for so many probes is opened anew: its other end may be gone without a word. */
const SILENT_PROBES = 6;
const LONGEST_RETRY_MS = 1000;
const PREFIX = "afferent ";

// The same rule as lib/queue/sliding-window.ts, by Redis's own clock, so that nodes whose clocks differ count alike.
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

declare module "ioredis" {
  interface RedisCommander<Context> {
    afferentTake(keys: number, ...args: (string | number)[]): Result<number[], Context>;
    afferentGiveBack(keys: number, ...args: (string | number)[]): Result<null, Context>;
  }
}

/**
 * Hits per key in sliding windows that all nodes share by one Redis, each counted in one round trip. While Redis is
 * lost or slow every answer is null at once: the caller counts by itself. The connection heals on its own.
 */
export class SharedWindows {
  readonly #redis: Redis;
  readonly #windowMs: number;
  readonly #patienceMs: number;
  readonly #report: Options["report"];
  readonly #probes: NodeJS.Timeout;
  #lost: string | null = "not connected yet";
  #told = false;
  #silent = 0;

  /** Begins to connect; does not wait for it. @param url `redis://` or `rediss://` */
  constructor(url: string, { windowMs, patienceMs = PATIENCE_MS, report }: Options) {
    this.#windowMs = windowMs;
    this.#patienceMs = patienceMs;
    this.#report = report;
    this.#redis = new Redis(url, {
      // What cannot be sent now is of no use later.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: (times) => Math.min(times * 100, LONGEST_RETRY_MS),
      scripts: { afferentTake: { lua: TAKE }, afferentGiveBack: { lua: GIVE_BACK } },
    });
    this.#redis.on("error", (err) => this.#lose(err.message));
    this.#redis.on("close", () => this.#lose("the connection closed"));
    this.#redis.on("ready", () => this.#probe());
    this.#probes = setInterval(() => this.#probe(), PROBE_MS).unref();
  }

  /** Why Redis is not in use now; null while it is. */
  get lost(): string | null {
    return this.#lost;
  }

  /** Counts a hit against every key, or against none when one has no room; null when Redis does not answer. */
  async take(limits: readonly { key: string; max: number }[]): Promise<SharedStanding | null> {
    if (this.#lost !== null) return null;
    const keys = limits.map(({ key }) => PREFIX + key);
    const most = limits.map(({ max }) => max);
    const asked = this.#redis.afferentTake(keys.length, ...keys, this.#windowMs, ...most);
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

  /** Takes hits back that were counted in a slot. Where Redis is lost they stay until their window ends. */
  async giveBack(keys: readonly string[], slot: number): Promise<void> {
    if (this.#lost !== null) return;
    const named = keys.map((key) => PREFIX + key);
    await this.#inTime(this.#redis.afferentGiveBack(named.length, ...named, slot));
  }

  /** Lets go of the connection. */
  close(): void {
    clearInterval(this.#probes);
    this.#redis.removeAllListeners();
    // Nothing listens any more, and an error without a listener would be thrown.
    this.#redis.on("error", () => {});
    this.#redis.disconnect();
  }

  /** What Redis answers, or undefined when it fails or is late, after which it is not asked until a probe succeeds. */
  #inTime<T>(asked: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      const late = () => {
        this.#lose(`no answer within ${this.#patienceMs} ms`);
        resolve(undefined);
      };
      // An answer that came while this process was busy is read before the immediate, and counts.
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
    if (this.#lost === null || !this.#told) this.#report(why);
    this.#told = true;
    this.#lost = why;
  }

  /** While Redis is lost: asks whether it is there again, one question at a time. */
  #probe(): void {
    if (this.#lost === null || this.#redis.status !== "ready") return;
    if (this.#silent > 0) {
      if (++this.#silent > SILENT_PROBES) this.#redis.disconnect(true);
      return;
    }
    this.#silent = 1;
    this.#redis
      .ping()
      .then(
        () => {
          this.#lost = null;
          this.#report(null);
        },
        () => {},
      )
      .finally(() => {
        this.#silent = 0;
      });
  }
}
