import { type CloudEvent, invalidEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Fault, isFault } from "../../../lib/contract/faults.ts";
import { derivedId } from "../../../lib/ids.ts";
import { checkClientEvent, requireSize } from "../events/client-event.ts";
import type { ScheduledEvent } from "./schedules.contract.ts";
import type { ScheduleDoc } from "./schedules.model.ts";

/** The attributes that each tick gives. */
const GIVEN = ["id", "time", "specversion", "notbefore"];

type Stored = Pick<ScheduleDoc, "event" | "content">;

export function givenEvent({ event, content = "{}" }: Stored): ScheduledEvent {
  return { ...JSON.parse(event), ...JSON.parse(content) };
}

function toStored({ data, data_base64, ...attributes }: Record<string, unknown>): Stored {
  return { event: JSON.stringify(attributes), content: JSON.stringify({ data, data_base64 }) };
}

/** Builds the event of a schedule for a time. */
export function eventOf(
  { _id, ...stored }: Pick<ScheduleDoc, "_id"> & Stored,
  id: string,
  time: Date,
): CloudEvent {
  return {
    specversion: "1.0",
    id,
    source: `sensorium/schedules/${_id}`,
    time: time.toISOString(),
    ...givenEvent(stored),
  };
}

/** Returns the id of the event for a tick: the same one on every node, so that a repetition is a duplicate. */
export function tickId({ secret }: Pick<ScheduleDoc, "secret">, tick: Date): string {
  return derivedId("evt", "tick", secret, tick.toISOString());
}

/** Returns an event as it is stored. @throws Fault invalid_event, with a field below `event`; payload_too_large */
export function checkEvent(schedule_id: string, given: Record<string, unknown>, maxBytes: number): Stored {
  try {
    for (const name of GIVEN)
      if (given[name] !== undefined)
        throw invalidEvent(name, given[name], "no value: each tick gives the event one");
    const now = new Date();
    const event = checkClientEvent(
      eventOf({ _id: schedule_id, ...toStored(given) }, derivedId("evt", "of a tick to come"), now),
      now.getTime(),
    );
    requireSize(Buffer.byteLength(JSON.stringify(event)), maxBytes);
  } catch (err) {
    if (!isFault(err) || err.type !== "invalid_event") throw err;
    const { field } = err.data as { field: string };
    throw new Fault("invalid_event", `event.${err.message}`, { ...err.data, field: `event.${field}` });
  }
  return toStored(given);
}
