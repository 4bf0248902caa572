import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** The fields read of the first event with an id. */
export type Original = Pick<EventDoc, "_id" | "ce_id" | "source" | "seed">;

/** Counts duplicates of one tenant; returns the originals by their producers' ids. */
export async function countDuplicates(
  events: TenantCollection<EventDoc>,
  rows: EventDoc[],
): Promise<Map<string, Original>> {
  const { tenant_id } = rows[0] as EventDoc;
  const fields = { projection: { ce_id: 1, source: 1, seed: 1 } };
  const found = await events.find(tenant_id, { ce_id: { $in: rows.map((row) => row.ce_id) } }, fields);
  const originals = new Map(found.map((original) => [original.ce_id, original]));
  const elsewhere = rows.filter((row) => (originals.get(row.ce_id)?.source ?? row.source) !== row.source);
  metrics.eventsDuplicate.inc(rows.filter((row) => !isRetry(row, originals.get(row.ce_id))).length);
  metrics.eventsDuplicateSource.inc(elsewhere.length);
  if (elsewhere.length) {
    await events.bulk(
      elsewhere.map(({ ce_id }) => ({
        updateOne: { filter: { tenant_id, ce_id }, update: { $inc: { duplicate_sources: 1 } } },
      })),
    );
  }
  return originals;
}

/** Whether the same request was repeated: it gets the first one's answer. */
export function isRetry(row: EventDoc, original: Original | undefined): boolean {
  return row.seed !== undefined && original?.seed === row.seed;
}
