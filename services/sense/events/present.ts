import { parseExact } from "../../../lib/json/json.ts";
import type { EventState, TimelineEntry } from "./events.contract.ts";
import type { EventDoc } from "./events.model.ts";

export function present(row: EventDoc) {
  return { ...frameOf(row), payload: parseExact(row.envelope) as Record<string, unknown> };
}

/** The JSON of `present`, without parsing the content. */
export function presentJson(row: EventDoc): string {
  return `${JSON.stringify(frameOf(row)).slice(0, -1)},"payload":${row.envelope}}`;
}

function frameOf(row: EventDoc) {
  return {
    event_id: row._id,
    state: eventState(row),
    accepted_at: row.accepted_at.toISOString(),
    waits_until: row.due_at?.toISOString() ?? null,
    matched_at: row.fanned_out_at?.toISOString() ?? null,
    matched_count: row.matched_count ?? null,
    duplicate_sources: row.duplicate_sources ?? 0,
    publisher_id: row.publisher_id,
  };
}

export function eventState({ parked_at, fanned_out_at, due_at }: EventDoc): EventState {
  if (due_at) return "waiting";
  if (parked_at) return "parked";
  return fanned_out_at ? "matched" : "accepted";
}

/**
 * Returns the event's own timeline; its receivers have separate ones. Matching is recorded once all deliveries are
 * written, but shown no later than the first of them.
 */
export function buildTimeline(row: EventDoc, firstMatched?: string): TimelineEntry[] {
  const entries: TimelineEntry[] = [{ at: row.accepted_at.toISOString(), what: "published" }];
  if (row.not_before) {
    const reason = `until ${row.not_before.toISOString()}`;
    entries.push({ at: row.accepted_at.toISOString(), what: "waiting", reason });
  }
  if (row.parked_at) {
    entries.push({ at: row.parked_at.toISOString(), what: "parked", reason: row.park_reason ?? "" });
  }
  if (row.fanned_out_at) {
    const count = row.matched_count ?? 0;
    const reason = count === 0 ? "no interest or feed matched" : `${count} receiver${count === 1 ? "" : "s"}`;
    const done = row.fanned_out_at.toISOString();
    const isEarlier = firstMatched !== undefined && firstMatched < done;
    entries.push({ at: isEarlier ? firstMatched : done, what: count ? "matched" : "unmatched", reason });
  }
  return entries;
}
