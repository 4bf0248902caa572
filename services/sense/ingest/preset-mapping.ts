import { checkCloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { parsePointer, resolvePointer } from "../../../lib/json/json-pointer.ts";
import type { PresetName } from "./mapping.contract.ts";
import {
  attempt,
  type Delivery,
  headerName,
  type Mapping,
  MappingError,
  toTypePart,
  typePart,
} from "./mapping.ts";
import { type Look, PRESETS } from "./presets.ts";

/**
 * Maps the deliveries of a known sender. The event's type is `com.<source>.<entity>.<action>`, its data the whole
 * payload.
 *
 * @throws Fault validation_error with `field` for an unusable source
 */
export function presetMapping(name: PresetName, source: string): Mapping {
  const preset = PRESETS[name];
  const sourcePart = typePart("source", source);
  return (payload, receipt) =>
    attempt(() => {
      const delivery = { payload, headers: receipt.headers ?? {} };
      const { entity, action, subject, id, time } = preset.fields(lookIn(delivery));
      if (entity === undefined || action === undefined)
        throw new MappingError(`${preset.kind} is missing: expected the kind of an event of ${preset.title}`);
      const parts = [sourcePart(delivery), part(preset.title, entity), part(preset.title, action)];
      return checkCloudEvent({
        specversion: "1.0",
        id: `${receipt.registration_id}:${id ?? receipt.default_id}`,
        source: receipt.ce_source,
        type: ["com", ...parts].join("."),
        ...(subject !== undefined && { subject }),
        time: parseTime(time) ?? new Date(receipt.now ?? Date.now()).toISOString(),
        datacontenttype: "application/json",
        data: payload,
      });
    });
}

function lookIn({ payload, headers }: Delivery): Look {
  return (term) => {
    const header = headerName(term);
    const value = header ? headers[header] : resolvePointer(payload, parsePointer(term) ?? []);
    if (typeof value === "string") return value || undefined;
    return Number.isSafeInteger(value) ? String(value) : undefined;
  };
}

function part(title: string, value: string): string {
  const folded = toTypePart(value);
  if (!folded)
    throw new MappingError(`${title} names the event "${value}": expected a string with a letter or digit`);
  return folded;
}

/** Converts a time of a sender; undefined for one that cannot be read. */
function parseTime(given = ""): string | undefined {
  const seconds = /^\d{9,10}$/.test(given);
  const number = seconds || /^\d{12,13}$/.test(given);
  // GitLab: "2026-01-31 09:30:00 UTC".
  const time = new Date(
    number ? Number(given) * (seconds ? 1000 : 1) : given.replace(" UTC", "Z").replace(" ", "T"),
  );
  return time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9999 ? time.toISOString() : undefined;
}
