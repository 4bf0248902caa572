import { Cluster, type ClusterNode, Redis, type RedisOptions, type Result } from "ioredis";
import { readCredentials } from "../lib/http/address-credentials.ts";

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

declare module "ioredis" {
  interface RedisCommander<Context> {
    sensoriumTake(keys: number, ...args: (string | number)[]): Result<number[], Context>;
    sensoriumGiveBack(keys: number, ...args: (string | number)[]): Result<null, Context>;
  }
}

/** Of one Redis or of a Cluster. */
export type RedisClient = Redis | Cluster;

const LONGEST_RETRY_MS = 1000;
const SEVERAL = /^redis(s?)\+(cluster|sentinel):\/\/([^@/]*@)?([^/?]+)(.*)$/;
const PORTS = { cluster: 6379, sentinel: 26379 };

const retryStrategy = (times: number) => Math.min(times * 100, LONGEST_RETRY_MS);
/** A command that cannot be sent now is useless later. */
const AT_ONCE = { enableOfflineQueue: false, maxRetriesPerRequest: 0 };
const scripts = { sensoriumTake: { lua: TAKE }, sensoriumGiveBack: { lua: GIVE_BACK } };

/** Starts connecting to one Redis, a Cluster, or the master that Sentinels name, as `REDIS_URL` says. */
export function connectRedis(url: string): RedisClient {
  const several = SEVERAL.exec(url);
  if (!several) return new Redis(url, { ...AT_ONCE, retryStrategy, scripts });
  const [, isTls, kind, credentials = "", servers, rest] = several as unknown as Several;
  const urls = servers.split(",").map((server) => new URL(`redis://${credentials}${server}${rest}`));
  const tls = isTls ? { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true } : {};
  const redisOptions = { ...readCredentials(urls[0] as URL), ...tls };
  const nodes = urls.map(({ hostname, port }) => ({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || PORTS[kind]),
  }));
  return kind === "cluster"
    ? connectCluster(nodes, redisOptions)
    : connectByName(nodes, urls[0] as URL, redisOptions);
}

type Several = [
  string,
  tls: string,
  kind: "cluster" | "sentinel",
  credentials: string,
  servers: string,
  rest: string,
];

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
