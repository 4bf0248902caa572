import { notFound } from "../../../lib/contract/faults.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { RoutingState, RoutingSubject } from "./routing-change.ts";
import type { TenantDoc } from "./tenants.model.ts";

/** Limit of recorded changes: a routing table that is further behind is loaded anew. */
const MAX_RECORDED = 200;

/** The routing versions of tenants, and what their latest changes concern. */
export class RoutingVersions {
  readonly #tenants: TenantCollection<TenantDoc>;
  readonly #alone: boolean;
  readonly #versions = new Map<string, number>();

  /** @param alone whether no other node can raise them: every batch of events reads one */
  constructor(tenants: TenantCollection<TenantDoc>, alone: boolean) {
    this.#tenants = tenants;
    this.#alone = alone;
  }

  async read(tenant_id: string): Promise<number> {
    const known = this.#versions.get(tenant_id);
    if (known !== undefined) return known;
    const options = { projection: { routing_version: 1 } };
    return this.#keep(tenant_id, await this.#tenants.findOne(tenant_id, { _id: tenant_id }, options));
  }

  /** Returns the current state, with the changes since an earlier one. */
  async since(tenant_id: string, known: number): Promise<RoutingState> {
    const projection = { routing_version: 1, routing_changes: 1 };
    const doc = await this.#tenants.findOne(tenant_id, { _id: tenant_id }, { projection });
    const version = doc?.routing_version ?? 0;
    const recorded = (doc?.routing_changes ?? []) as RoutingSubject[];
    const behind = version - known;
    return { version, changes: behind <= recorded.length ? recorded.slice(recorded.length - behind) : null };
  }

  /** Returns the new version. Call after a change of routing is written and before it is answered. */
  async raise(tenant_id: string, subject: RoutingSubject): Promise<number> {
    const $push = { routing_changes: { $each: [subject], $slice: -MAX_RECORDED } };
    const change = { $inc: { routing_version: 1 }, $push };
    const doc = await this.#tenants.update(tenant_id, { _id: tenant_id }, change);
    // An answer without a new version would leave every routing table outdated.
    if (!doc) throw notFound("tenant", tenant_id);
    return this.#keep(tenant_id, doc);
  }

  #keep(tenant_id: string, doc: Pick<TenantDoc, "routing_version"> | null): number {
    const version = doc?.routing_version ?? 0;
    if (!this.#alone || !doc) return version;
    // A read that began before the version was raised must not lower it.
    const kept = Math.max(version, this.#versions.get(tenant_id) ?? 0);
    this.#versions.set(tenant_id, kept);
    return kept;
  }
}
