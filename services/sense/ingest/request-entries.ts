import type { Signed } from "./delivery-id.ts";
import type { LoggedRequest } from "./ingest.model.ts";
import type { Entered } from "./intake.ts";
import { keptHeaders, termsOf } from "./kept-headers.ts";
import { AS_CLOUDEVENTS } from "./mapping.contract.ts";

const REASON_LENGTH = 500;
const DIFFERS = "not stored: an event with this id exists, with another source or content";

/** Returns the log's entry for a refused request. @param reason must contain nothing of the request */
export function refusedEntry(request_id: string, at: Date, reason: string, size: number): LoggedRequest {
  return {
    ...{ request_id, at, outcome: "refused", reason: reason.slice(0, REASON_LENGTH) },
    ...{
      event_id: null,
      dead_letter_id: null,
      events: 0,
      size,
      signature: null,
      headers: {},
      event_is: "part",
    },
  };
}

/** Returns the log's entry for a signed request. @param all its events; none for a challenge */
export function signedEntry(
  request_id: string,
  at: Date,
  { webhook, signature, body, headers }: Signed,
  all: readonly Entered[],
): LoggedRequest {
  const dead = all.find((each) => each.status === "dead_lettered");
  const first = dead ?? all.find(({ status }) => status === "accepted") ?? all[0];
  return {
    ...{ request_id, at, outcome: first?.status ?? "challenge" },
    reason: dead
      ? dead.reason.slice(0, REASON_LENGTH)
      : all.some((each) => "differs" in each)
        ? DIFFERS
        : null,
    event_id: all.find(({ event_id }) => event_id !== null)?.event_id ?? null,
    dead_letter_id: dead?.dead_letter_id ?? null,
    ...{
      events: all.length,
      size: body.length,
      signature: signature.scheme,
      headers: keptHeaders(headers, termsOf(webhook)),
    },
    event_is: sampleIn(webhook),
  };
}

/** Returns what a webhook's events contain of the payload. */
function sampleIn({ mapping }: Signed["webhook"]): LoggedRequest["event_is"] {
  if (mapping === AS_CLOUDEVENTS) return "payload";
  return typeof mapping === "object" && mapping.data ? "part" : "data";
}
