import { promises as dns, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
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
const MAX_KEPT = 1_000;
const LOOPBACK: LookupAddress[] = [{ address: "127.0.0.1", family: 4 }];

interface HostResolverOptions {
  /** Name servers as `ADDRESS` or `ADDRESS:PORT`; empty: the system's. */
  servers: readonly string[];
  /** Timeout of the first query to a name server. Default: 2 s. */
  timeoutMs?: number;
  /** Shares look-ups fairly among tenants. */
  queue: FairQueue;
  /** Shares the system's look-ups fairly: each occupies a thread that file operations need too. */
  systemQueue: FairQueue;
}

interface Kept {
  addresses: LookupAddress[];
  error: NodeJS.ErrnoException | null;
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
  readonly #running = new Map<string, Promise<Kept>>();

  constructor(options: HostResolverOptions) {
    this.#options = options;
    this.#resolver = new dns.Resolver({ timeout: options.timeoutMs ?? TIMEOUT_MS, tries: TRIES });
    if (options.servers.length) this.#resolver.setServers(options.servers);
  }

  /**
   * Returns all addresses of a host; an address resolves to itself.
   *
   * @throws Error with a `code`: `ENOTFOUND`, `ETIMEOUT` and others of `node:dns`; Fault rate_limited,
   * service_unavailable
   */
  async resolve(host: string, share: Share): Promise<LookupAddress[]> {
    const family = isIP(host);
    if (family) return [{ address: host, family }];
    const name = host.toLowerCase().replace(/\.$/, "");
    if (name === "localhost" || name.endsWith(".localhost")) return LOOPBACK;
    const kept =
      this.#freshOf(name) ?? (await this.#options.queue.run(share, 1, () => this.#ask(name, share)));
    if (kept.error) throw kept.error;
    return kept.addresses;
  }

  #freshOf(name: string): Kept | null {
    const kept = this.#kept.get(name);
    return kept && kept.until > performance.now() ? kept : null;
  }

  /** Concurrent requests for a name share one answer. */
  #ask(name: string, share: Share): Promise<Kept> | Kept {
    const fresh = this.#freshOf(name);
    if (fresh) return fresh;
    const asked =
      this.#running.get(name) ??
      this.#lookUp(name, share)
        .then((kept) => {
          this.#kept.set(name, kept);
          return kept;
        })
        .finally(() => this.#running.delete(name));
    this.#running.set(name, asked);
    return asked;
  }

  async #lookUp(name: string, share: Share): Promise<Kept> {
    try {
      return keptFor(...(await this.#askServers(name)));
    } catch (err) {
      const error = err as NodeJS.ErrnoException;
      if (error.code === "ETIMEOUT") return failed(error);
      return this.#askSystem(name, share).catch(() => failed(error));
    }
  }

  async #askServers(name: string): Promise<[LookupAddress[], number]> {
    const answers = await Promise.allSettled([
      this.#resolver.resolve4(name, { ttl: true }),
      this.#resolver.resolve6(name, { ttl: true }),
    ]);
    const records = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (records.length === 0) throw worstOf(answers);
    const addresses = records.map(({ address }) => ({ address, family: isIP(address) }));
    return [addresses, Math.min(...records.map(({ ttl }) => ttl)) * 1000];
  }

  async #askSystem(name: string, share: Share): Promise<Kept> {
    const asked = this.#options.systemQueue.run(share, 1, () => dns.lookup(name, { all: true }));
    const late = new Promise<never>((_, reject) => {
      const error = Object.assign(new Error(`the host ${name} could not be resolved in time`), {
        code: "ETIMEOUT",
      });
      setTimeout(reject, SYSTEM_TIMEOUT_MS, error).unref();
    });
    return keptFor(await Promise.race([asked, late]), SHORTEST_KEPT_MS);
  }
}

/** Returns a socket's `lookup` for a host that is already resolved. */
export function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  const [first] = addresses as [LookupAddress];
  return (_host, options, done) => {
    if (options.all) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

function keptFor(addresses: LookupAddress[], ttlMs: number): Kept {
  const ms = Math.min(Math.max(ttlMs, SHORTEST_KEPT_MS), LONGEST_KEPT_MS);
  return { addresses, error: null, until: performance.now() + ms };
}

const failed = (error: NodeJS.ErrnoException): Kept => ({
  addresses: [],
  error,
  until: performance.now() + FAILURE_KEPT_MS,
});

/** Prefers a timeout to the answer that there is no such name: the name may exist. */
function worstOf(answers: readonly PromiseSettledResult<unknown>[]): NodeJS.ErrnoException {
  const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  return errors.find(({ code }) => code === "ETIMEOUT") ?? errors[0];
}
