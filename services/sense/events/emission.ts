import type { Scoped } from "../../../lib/access/visibility.ts";
import { audienceOf } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { PLATFORM_SOURCE } from "../../../lib/cloudevents/platform-types.ts";
import { derivedId } from "../../../lib/ids.ts";

/** An event that the service itself publishes. */
export interface Emission {
  type: string;
  subject?: string;
  /** Ids and states, never content. */
  data: unknown;
  /** Identifies the event: publishing the same text again adds nothing. */
  dedupe: string;
  /** The row that it is about: only its readers receive the event. Absent for everyone in the tenant. */
  audience?: Scoped;
}

/** Builds the envelope of an emission. */
export function emitted({ type, subject, data, dedupe, audience: about }: Emission, at: Date): CloudEvent {
  const audience = about && audienceOf(about);
  return {
    specversion: "1.0",
    id: derivedId("evt", "emitted", dedupe),
    source: PLATFORM_SOURCE,
    type,
    ...(subject && { subject }),
    ...(audience && { audience }),
    time: at.toISOString(),
    datacontenttype: "application/json",
    data,
  };
}
