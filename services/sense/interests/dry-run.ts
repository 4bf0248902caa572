import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { reservedPrefix } from "../../../lib/cloudevents/platform-types.ts";
import { compileFilter, EventScope, filterable, parseEnvelope } from "../../../lib/filter/filter.ts";
import { compileGlob } from "../../../lib/filter/glob.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { filterHints } from "./filter-hints.ts";
import type { VERDICTS } from "./interests.contract.ts";

/** An event to test an interest on. */
export interface Sample {
  event_id: string;
  /** JSON text of the whole CloudEvent. */
  envelope: string;
  accepted_at: Date;
  /** The CloudEvent, once parsed. */
  event?: CloudEvent;
}

/** Params of `events.latest`, which returns samples. */
export interface LatestParams {
  tenant_id: string;
  limit: number;
  /** With the service's own. */
  include_service: boolean;
}

/** Limit of the latest events that an interest is tested on. */
export const TEST_EVENTS = 100;

/** Whether a type or glob is of the service's own events. */
export const isOfService = (type: string) => /^(service|memory)\./.test(type);

interface Verdict {
  reason: (typeof VERDICTS)[number];
  error?: string;
}

/** How long trying events may block the event loop. */
const SLICE_MS = 2;

export function eventOf(sample: Sample): CloudEvent {
  sample.event ??= parseEnvelope<CloudEvent>(sample.envelope);
  return sample.event;
}

/** Returns for each event whether a candidate would match it, and why not. Glob and filter are valid. */
export async function tryInterest(glob: string, filter: string | null, samples: Sample[]) {
  const results = [];
  const types = compileGlob(glob);
  const predicate = filter === null ? null : compileFilter(filter);
  const ofType: CloudEvent[] = [];
  const slices = new Slices(SLICE_MS);
  for (const sample of samples) {
    const { event_id, accepted_at } = sample;
    const event = eventOf(sample);
    const { reason, error } = verdict(event);
    if (reason !== "type") ofType.push(filterable(event) as CloudEvent);
    const { type, source, subject = null } = event;
    const at = new Date(accepted_at).toISOString();
    const matches = reason === "match";
    results.push({
      event_id,
      type,
      source,
      subject,
      accepted_at: at,
      matches,
      reason,
      ...(error && { error }),
    });
    if (slices.over) await slices.next();
  }
  const matched = results.filter(({ matches }) => matches).length;
  const hints = filter === null ? [] : filterHints(filter, ofType).map(({ text }) => text);
  return { tested: results.length, matched, hints, results };

  function verdict(event: CloudEvent): Verdict {
    const isNamed = types.prefix.length >= reservedPrefix(event.type).length;
    if (!isNamed || !types.test(event.type)) return { reason: "type" };
    if (!predicate) return { reason: "match" };
    const { outcome, error } = predicate.explain(new EventScope(event));
    if (outcome === "error")
      return { reason: "filter_error", error: error ?? "the filter could not be evaluated" };
    return { reason: outcome === "match" ? "match" : "filter" };
  }
}
