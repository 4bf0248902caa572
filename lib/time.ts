/** Milliseconds in an hour. */
export const HOUR_MS = 3_600_000;

/** Milliseconds in a day. */
export const DAY_MS = 24 * HOUR_MS;
