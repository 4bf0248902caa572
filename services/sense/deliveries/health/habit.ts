import { DAY_MS } from "../../../../lib/time.ts";

/** The longest absence of an agent that ended on a day. */
export interface Absence {
  /** In UTC, as `2026-03-01`. */
  day: string;
  ms: number;
}

const DAYS = 14;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Returns the absences with one that ends now: one for each day, for two weeks. */
export function addAbsence(known: readonly Absence[], ms: number, now: number): Absence[] {
  const day = dayOf(now);
  const longest = Math.max(ms, ...known.filter((each) => each.day === day).map((each) => each.ms));
  const others = recent(known, now).filter((each) => each.day !== day);
  return [...others, { day, ms: longest }];
}

/**
 * Returns for how long an agent is usually away, in ms: as long as on two of the last 14 days at least. One outage is no
 * habit. 0 if it has none.
 */
export function usualAbsence(known: readonly Absence[], now: number): number {
  const [, second] = recent(known, now)
    .map(({ ms }) => ms)
    .sort((a, b) => b - a);
  return second ?? 0;
}

const recent = (known: readonly Absence[], now: number) =>
  known.filter(({ day }) => day >= dayOf(now - DAYS * DAY_MS));
