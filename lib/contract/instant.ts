import { Type } from "typebox";
import { DAY_MS } from "../time.ts";

/** A date alone: that day in UTC, or in the zone of its offset. */
const DAY = /^\d{4}-\d\d-\d\d(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/;

export const isDay = (text: string) => DAY.test(text);

/** A date and time (RFC 3339), or a date alone. */
export function Instant(description: string) {
  return Type.String({
    "x-format": "instant",
    maxLength: 40,
    description: `${description} A date and time (RFC 3339), or a date: that day in UTC, or with \`+hh:mm\` in that zone.`,
    examples: ["2026-03-15", "2026-03-15+02:00", "2026-03-15T09:30:00Z"],
  });
}

/** Returns when a day or a time begins. @param text an `Instant` */
export function startOf(text: string): Date {
  return new Date(isDay(text) ? dayOf(text) : Date.parse(text));
}

/** Returns the last moment of a day, or the time itself. @param text an `Instant` */
export function endOf(text: string): Date {
  return new Date(isDay(text) ? dayOf(text) + DAY_MS - 1 : Date.parse(text));
}

const dayOf = (text: string) => Date.parse(`${text.slice(0, 10)}T00:00:00${text.slice(10) || "Z"}`);
