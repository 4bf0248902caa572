import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Fault } from "../lib/contract/faults.ts";
import { LruMap } from "../lib/lru-map.ts";
import type { FairQueue, Share } from "../lib/queue/fair-queue.ts";

/** Timeout of the first of two queries to a silent name server. */
const TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Timeout of the system's look-up, which has none itself. */
const SYSTEM_TIMEOUT_MS = 5_000;
const LONGEST_KEPT_MS = 60_000;
const SHORTEST_KEPT_MS = 5_000;
/** An unresolvable name is queried again after this time. */
const FAILURE_KEPT_MS = 10_000;
const MAX_KEPT = 2_000;
const LOOPBACK: LookupAddress[] = [{ address: "127.0.0.1", family: 4 }];

/** The cost of asking servers: a tenant looks up 64 names at once. */
const COST = 4;
/**
 * The cost of asking the system, which occupies a thread that file operations need too. All of it is one tenant's use
 * of the queue: the system is asked for two names at once, one of a tenant.
 */
const SYSTEM_COST = 32 * COST;

interface HostResolverOptions {
  /** Name servers as `ADDRESS` or `ADDRESS:PORT`; empty: the system's. */
  servers: readonly string[];
  /** Timeout of the first query to a name server. Default: 2 s. */
  timeoutMs?: number;
  /** Shares look-ups fairly among tenants. */
  queue: FairQueue;
}

/** Addresses, and for how long they hold. */
type Answer = [addresses: LookupAddress[], ttlMs: number];

interface Kept {
  addresses: Promise<LookupAddress[]>;
  /** Infinity while it is asked for. */
  until: number;
}

/**
 * Resolves names given by tenants. Node's `dns.lookup` shares four threads, without a timeout, with the file system: a
 * few names that never resolve block everything else. This class queries the name servers directly, caches their
 * answers, and asks the system (hosts file, search domains) only for names that they do not know.
 */
export class HostResolver {
  readonly #options: HostResolverOptions;
  readonly #resolver: dns.Resolver;
  readonly #kept = new LruMap<string, Kept>(MAX_KEPT);

  constructor(options: HostResolverOptions) {
    this.#options = options;
    this.#resolver = new dns.Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: TRIES });
    if (options.servers.length) this.#resolver.setServers(options.servers);
  }

  /** Returns all addresses of a host. @throws Error with a `code` of `node:dns`; Fault rate_limited, service_unavailable */
  async resolve(host: string, share: Share): Promise<LookupAddress[]> {
    const family = isIP(host);
    if (family) return [{ address: host, family }];
    const name = host.toLowerCase().replace(/\.$/, "");
    if (name === "localhost" || name.endsWith(".localhost")) return LOOPBACK;
    try {
      return await this.#ask(name, share, COST, () => this.#askServers(name));
    } catch (err) {
      if (err instanceof Fault || (err as NodeJS.ErrnoException).code === "ETIMEOUT") throw err;
      const system = { tenant_id: "system", caller: share.tenant_id };
      const answer = this.#ask(`${name} by the system`, system, SYSTEM_COST, () => askSystem(name));
      const late = new Promise<never>((_, reject) => {
        setTimeout(reject, SYSTEM_TIMEOUT_MS, err).unref();
      });
      return Promise.race([answer, late]).catch(() => {
        throw err;
      });
    }
  }

  /** Concurrent requests share one answer. Only one that has its turn is kept: a full queue is its caller's. */
  async #ask(key: string, share: Share, cost: number, ask: () => Promise<Answer>): Promise<LookupAddress[]> {
    const find = () => {
      const kept = this.#kept.get(key);
      return kept && kept.until > performance.now() ? kept.addresses : null;
    };
    const how = { queued: 1, reserved: true };
    return find() ?? this.#options.queue.run(share, cost, () => find() ?? this.#keep(key, ask()), how);
  }

  #keep(key: string, answer: Promise<Answer>): Promise<LookupAddress[]> {
    const addresses = answer.then(([answer]) => answer);
    const kept = { addresses, until: Number.POSITIVE_INFINITY };
    this.#kept.set(key, kept);
    const until = (ms: number) => {
      kept.until = performance.now() + ms;
    };
    answer.then(
      ([, ttlMs]) => until(Math.min(Math.max(ttlMs, SHORTEST_KEPT_MS), LONGEST_KEPT_MS)),
      () => until(FAILURE_KEPT_MS),
    );
    return addresses;
  }

  async #askServers(name: string): Promise<Answer> {
    const answers = await Promise.allSettled([
      this.#resolver.resolve4(name, { ttl: true }),
      this.#resolver.resolve6(name, { ttl: true }),
    ]);
    const records = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (records.length === 0) throw pickWorst(answers);
    const addresses = records.map(({ address }) => ({ address, family: isIP(address) }));
    return [addresses, Math.min(...records.map(({ ttl }) => ttl)) * 1000];
  }
}

async function askSystem(name: string): Promise<Answer> {
  return [await dns.lookup(name, { all: true }), SHORTEST_KEPT_MS];
}

/** Returns a socket's `lookup` for a host that is already resolved. */
export function makeLookup(addresses: readonly LookupAddress[]): LookupFunction {
  const [first] = addresses as [LookupAddress];
  return (_host, options, done) => {
    if (options.all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

/** Prefers a timeout to the answer that there is no such name: the name may exist. */
function pickWorst(answers: readonly PromiseSettledResult<unknown>[]): NodeJS.ErrnoException {
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  return errors.find(({ code }) => code === "ETIMEOUT") ?? errors[0];
}
