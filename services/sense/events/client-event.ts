import { type CloudEvent, checkCloudEvent, invalidEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { isPlatformType } from "../../../lib/cloudevents/platform-types.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { DAY_MS } from "../../../lib/time.ts";
import { MAX_DELAY_DAYS } from "./events.contract.ts";

/** Validates an external event. @throws Fault invalid_event. */
export function checkClientEvent(value: unknown, now: number): CloudEvent {
  const event = checkCloudEvent(value);
  checkNotBefore(event, now);
  if (isPlatformType(event.type)) {
    throw invalidEvent(
      "type",
      event.type,
      "a type other than service.* and memory.cited, which are reserved for the service",
    );
  }
  return event;
}

/** Refuses a `notbefore` that is too far ahead. @throws Fault invalid_event */
function checkNotBefore({ notbefore }: CloudEvent, now: number): void {
  if (notbefore === undefined) return;
  const due = Date.parse(notbefore as string);
  if (due - now <= MAX_DELAY_DAYS * DAY_MS) return;
  const expected = `a date and time (RFC 3339) at most ${MAX_DELAY_DAYS} days ahead`;
  throw invalidEvent("notbefore", notbefore, expected);
}

/** Refuses an event of too many bytes. @throws Fault payload_too_large */
export function requireSize(actual_size: number, max_size: number): void {
  if (actual_size <= max_size) return;
  const message = `The event has ${actual_size} bytes as JSON; the limit is ${max_size}.`;
  throw new Fault("payload_too_large", message, { actual_size, max_size });
}
