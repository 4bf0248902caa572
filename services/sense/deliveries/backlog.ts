import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import { type DeliveryDoc, PENDING } from "./deliveries.model.ts";

/** Counting reads an index entry for every pending row, possibly millions. */
const FRESH_MS = 60_000;
const PAGE = 100;

/** Counts pending deliveries of all tenants by state, for the metrics. At most a minute old. */
export function newBacklog(broker: ServiceBroker, deliveries: TenantCollection<DeliveryDoc>) {
  let counted: Promise<Record<string, number>> | undefined;
  let countedAt = Number.NEGATIVE_INFINITY;

  async function count(): Promise<Record<string, number>> {
    const totals = Object.fromEntries(PENDING.map((state) => [state, 0]));
    for (let offset = 0; ; offset += PAGE) {
      const params = { offset, limit: PAGE };
      const { tenants } = await broker.call<{ tenants: { id: string }[] }, unknown>("tenants.list", params);
      for (const { id } of tenants) {
        for (const state of PENDING)
          totals[state] = (totals[state] ?? 0) + (await deliveries.count(id, { state }));
      }
      if (tenants.length < PAGE) return totals;
    }
  }

  return function backlog(): Promise<Record<string, number>> {
    const now = performance.now();
    if (!counted || now - countedAt > FRESH_MS) {
      countedAt = now;
      counted = count().catch((err) => {
        counted = undefined;
        throw err;
      });
    }
    return counted;
  };
}
