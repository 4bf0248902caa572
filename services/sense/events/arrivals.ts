import type { ServiceBroker } from "moleculer";
import type { OfTenant } from "../../../lib/access/caller.ts";

/** Watchers renew their watch within this time; afterwards the tenant is no longer watched. */
export const WATCHED_MS = 30_000;
/** Events within this time are announced together. */
const GATHER_MS = 50;

/**
 * Tells gateways that a tenant has new events, or that events have new readers. Only while somebody watches the tenant:
 * unwatched tenants cost a look-up in memory per commit. Gateways watch by the broker event `events.watched`, and get
 * `events.arrived`.
 */
export class Arrivals {
  readonly #broker: Pick<ServiceBroker, "broadcast">;
  /** By tenant, until when it is watched. */
  readonly #watched = new Map<string, number>();
  readonly #new = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(broker: Pick<ServiceBroker, "broadcast">) {
    this.#broker = broker;
  }

  watch({ tenant_id }: OfTenant, now = performance.now()): void {
    for (const [id, until] of this.#watched) if (until < now) this.#watched.delete(id);
    this.#watched.set(tenant_id, now + WATCHED_MS);
  }

  tell(tenant_id: string): void {
    if ((this.#watched.get(tenant_id) ?? 0) < performance.now()) return;
    this.#new.add(tenant_id);
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  #flush(): void {
    this.#timer = undefined;
    for (const tenant_id of this.#new)
      void this.#broker.broadcast("events.arrived", { tenant_id } satisfies OfTenant);
    this.#new.clear();
  }
}
