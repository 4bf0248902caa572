import type { BatchAnswer, Published } from "../../../lib/cloudevents/publish-answers.ts";
import { mappingError } from "../deliveries/dead-letter-state.ts";
import type { Origin } from "../deliveries/deliveries.model.ts";
import { keptHeaders, type Mapped, termsOf } from "./kept-headers.ts";

/** A payload of an inlet: an event to publish, or not. */
export type Entering = ({ event: unknown } | { error: string }) & {
  /** As its dead letter stores it. */
  payload: unknown;
  /** Of its receipt. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Identifies repeated receipts; absent if they cannot be recognised. */
  dedupe?: string | undefined;
  /** Absent if no other mapping could read it either. */
  origin?: Pick<Origin, "default_id" | "structured"> | undefined;
};

/** What became of a payload. */
export type Entered =
  | Published
  | { event_id: null; status: "dead_lettered"; dead_letter_id: string; reason: string };

/** The service cannot take a payload right now. */
export interface Later {
  status: "later";
  reason: string;
}

/** The registration that a payload came by. */
interface Inlet extends Mapped {
  _id: string;
  tenant_id: string;
}

/** Permanent errors of an event: publishing it again is pointless. */
const FINAL = ["invalid_event", "payload_too_large"];

/**
 * Publishes events, and dead-letters what is none. Resolves when all are durable, with their outcomes in order.
 *
 * @param source the events' source, for dead letters
 */
export async function enterAll(
  ctx: { call<T, P>(action: string, params: P): Promise<T> },
  { inlet, registration, source }: { inlet: Origin["inlet"]; registration: Inlet; source: string },
  all: readonly Entering[],
): Promise<(Entered | Later)[]> {
  const { _id: registration_id, tenant_id } = registration;
  const bury = (given: Entering, reason: string): Promise<Entered | Later> => {
    const { payload, dedupe, origin } = given;
    const headers = keptHeaders(given.headers, termsOf(registration));
    const params = {
      ...{ tenant_id, source, payload, reason },
      ...(dedupe !== undefined && { dedupe }),
      ...(origin && { origin: { inlet, registration_id, ...origin, headers } }),
    };
    return ctx.call<{ id: string }, unknown>("deliveries.dead_letter", params).then(
      ({ id }) => ({ event_id: null, status: "dead_lettered", dead_letter_id: id, reason }),
      () => later("It cannot be kept as a dead letter right now."),
    );
  };
  const events = all.flatMap((each) => ("event" in each ? [each.event] : []));
  const publish = { tenant_id, publisher_id: null, events };
  const answers = events.length > 0 ? await ctx.call<BatchAnswer[], unknown>("events.ingest", publish) : [];
  let at = 0;
  return Promise.all(
    all.map((each): Entered | Later | Promise<Entered | Later> => {
      if ("error" in each) return bury(each, each.error);
      const answer = answers[at++] as BatchAnswer;
      if (answer.status !== "rejected") return answer;
      const { code, message } = answer.error;
      if (FINAL.includes(code)) return bury(each, mappingError(answer.error));
      return later(message);
    }),
  );
}

const later = (reason: string): Later => ({ status: "later", reason });
