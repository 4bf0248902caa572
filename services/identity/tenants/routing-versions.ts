import { notFound } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { TenantDoc } from "./tenants.model.ts";

/** The routing versions of tenants. */
export class RoutingVersions {
  readonly #tenants: TenantCollection<TenantDoc>;
  readonly #cached: boolean;
  readonly #versions = new Map<string, number>();

  /** @param cached whether no other node can raise them: every batch of events reads one */
  constructor(tenants: TenantCollection<TenantDoc>, cached: boolean) {
    this.#tenants = tenants;
    this.#cached = cached;
  }

  async read(tenant_id: string): Promise<number> {
    const known = this.#versions.get(tenant_id);
    if (known !== undefined) return known;
    const options = { projection: { routing_version: 1 } };
    return this.#keep(tenant_id, await this.#tenants.findOne(tenant_id, { _id: tenant_id }, options));
  }

  /** Returns the new version. Call after a change of routing is written and before it is answered. */
  async raise(tenant_id: string): Promise<number> {
    const doc = await this.#tenants.update(tenant_id, { _id: tenant_id }, { $inc: { routing_version: 1 } });
    // An answer without a new version would leave every routing table outdated.
    if (!doc) throw notFound("tenant", tenant_id);
    return this.#keep(tenant_id, doc);
  }

  #keep(tenant_id: string, doc: Pick<TenantDoc, "routing_version"> | null): number {
    const version = doc?.routing_version ?? 0;
    if (!this.#cached || !doc) return version;
    // A read that began before the version was raised must not lower it.
    const kept = Math.max(version, this.#versions.get(tenant_id) ?? 0);
    this.#versions.set(tenant_id, kept);
    return kept;
  }
}
