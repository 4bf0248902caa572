import { hash } from "node:crypto";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";

/**
 * Returns a digest of an event's value at a path such as `subject` or `data.order_id`; undefined if it is missing, empty,
 * or no text, number or boolean. Equal texts and numbers have the same digest.
 */
export function orderingOf(event: CloudEvent, path: string): string | undefined {
  let value: unknown = event;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  if (!["string", "number", "bigint", "boolean"].includes(typeof value) || value === "") return undefined;
  return hash("sha256", String(value), "base64url").slice(0, 22);
}
