export const MINUTE_MS = 60_000;

export const HOUR_MS = 60 * MINUTE_MS;

export const DAY_MS = 24 * HOUR_MS;

/** Whether the day of a written time exists: Date takes the 30th of February for the 2nd of March. */
export function hasRealDay(time: string): boolean {
  const day = Number(time.slice("2026-01-".length, "2026-01-31".length));
  return day <= 28 || new Date(time.slice(0, "2026-01-31".length)).getUTCDate() === day;
}
