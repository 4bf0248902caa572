import { isDeepStrictEqual } from "node:util";
import { parseExact } from "../../../lib/json/json.ts";
import { metrics } from "../../../observability/metrics.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { EventDoc } from "./events.model.ts";

/** The fields read of the first event with an id. */
type Found = Pick<EventDoc, "_id" | "ce_id" | "source" | "type" | "subject" | "size" | "seed">;

/** The first event with an id. */
export interface Original extends Found {
  /** Whether a later one had another source or content. */
  differs: boolean;
}

const FIELDS = { ce_id: 1, source: 1, type: 1, subject: 1, size: 1, seed: 1 } as const;
/** Envelopes of equal events differ by their time and trace context, which are not content. */
const SAME_BYTES = 300;

/** Counts duplicates of one tenant; returns the originals of each. */
export async function countDuplicates(
  events: TenantCollection<EventDoc>,
  rows: EventDoc[],
): Promise<Map<EventDoc, Original>> {
  const { tenant_id } = rows[0] as EventDoc;
  const ids = { ce_id: { $in: rows.map((row) => row.ce_id) } };
  const found = new Map(
    (await events.find(tenant_id, ids, { projection: FIELDS })).map((each) => [each.ce_id, each]),
  );
  const originals = new Map<EventDoc, Original>();
  for (const row of rows) {
    const original = found.get(row.ce_id);
    if (!original) continue;
    // One envelope at a time: together they may be large.
    const differs = !isRetry(row, original) && (await isDifferent(events, row, original));
    originals.set(row, { ...original, differs });
  }
  const elsewhere = rows.filter((row) => (found.get(row.ce_id)?.source ?? row.source) !== row.source);
  metrics.eventsDuplicate.inc(rows.filter((row) => !isRetry(row, found.get(row.ce_id))).length);
  metrics.eventsDuplicateSource.inc(elsewhere.length);
  metrics.eventsDuplicateDiffers.inc([...originals.values()].filter(({ differs }) => differs).length);
  if (elsewhere.length) {
    await events.bulk(
      elsewhere.map(({ ce_id }) => ({
        updateOne: { filter: { tenant_id, ce_id }, update: { $inc: { duplicate_sources: 1 } } },
      })),
    );
  }
  return originals;
}

async function isDifferent(
  events: TenantCollection<EventDoc>,
  row: EventDoc,
  original: Found,
): Promise<boolean> {
  const isOther = (["source", "type", "subject"] as const).some((name) => row[name] !== original[name]);
  if (isOther || Math.abs(row.size - original.size) > SAME_BYTES) return true;
  const options = { projection: { envelope: 1 } };
  const first = await events.findOne(row.tenant_id, { _id: original._id }, options);
  return first !== null && !isDeepStrictEqual(readContent(row.envelope), readContent(first.envelope));
}

function readContent(envelope: string): unknown {
  const { time: _, traceparent: __, ...content } = parseExact(envelope);
  return content;
}

/** Whether the same request was repeated: it gets the first one's answer. */
export function isRetry(row: EventDoc, original: Pick<EventDoc, "seed"> | undefined): boolean {
  return row.seed !== undefined && original?.seed === row.seed;
}
