import type { AccessVersions } from "../../../../storage/access/access-versions.ts";

/** Longest wait for the record: it may be silent. */
const READ_TIMEOUT_MS = 3000;

interface Known {
  version: number;
  /** When the version was first known here, on this process's monotonic clock. */
  since: number;
  /** When the last read that returned it began. */
  confirmed_at: number;
}

/** The access versions of tenants as this node last read them. */
export class KnownVersions {
  readonly #versions: Pick<AccessVersions, "read">;
  #known = new Map<string, Known>();

  constructor(versions: Pick<AccessVersions, "read">) {
    this.#versions = versions;
  }

  /** Reads the versions of these tenants, and forgets those of others. */
  async read(tenant_ids: ReadonlySet<string>): Promise<void> {
    const confirmed_at = performance.now();
    const versions = tenant_ids.size ? await this.#ask([...tenant_ids]) : new Map<string, number>();
    const now = performance.now();
    const known = [...versions].map(([tenant_id, version]) => {
      const before = this.#known.get(tenant_id);
      const since = before?.version === version ? before.since : now;
      return [tenant_id, { version, since, confirmed_at }] as const;
    });
    this.#known = new Map(known);
  }

  /** Returns a tenant's version if it was known by a time: rows read since then are at least of this version. */
  at(tenant_id: string, time = Number.POSITIVE_INFINITY): number | undefined {
    const known = this.#known.get(tenant_id);
    return known && known.since <= time ? known.version : undefined;
  }

  /** Returns when a tenant last had this version. */
  lastSeen(tenant_id: string, version: number | undefined): number {
    const known = this.#known.get(tenant_id);
    return known && known.version === version ? known.confirmed_at : Number.NEGATIVE_INFINITY;
  }

  async #ask(tenant_ids: string[]): Promise<Map<string, number>> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(reject, READ_TIMEOUT_MS, new Error("the record did not answer in time"));
    try {
      return await Promise.race([this.#versions.read(tenant_ids), late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
