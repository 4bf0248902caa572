import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../lib/time.ts";
import { COUNTED, type Counted, type Counts } from "./tally.ts";
import type { RecordedDoc, Unit } from "./traffic.model.ts";

export const UNIT_MS: Record<Unit, number> = { minute: MINUTE_MS, hour: HOUR_MS };

/** The time ranges that are read, the unit of their rows and the length of each value. */
export const RANGES = {
  "15m": { ms: 15 * MINUTE_MS, unit: "minute", step: MINUTE_MS },
  "1h": { ms: HOUR_MS, unit: "minute", step: MINUTE_MS },
  "24h": { ms: DAY_MS, unit: "minute", step: 5 * MINUTE_MS },
  "7d": { ms: 7 * DAY_MS, unit: "hour", step: HOUR_MS },
} as const;
export type Range = keyof typeof RANGES;

/** Equal spans of time up to the current one. */
export interface Span {
  unit: Unit;
  /** Beginning of the first and end of the last, in ms. */
  from: number;
  to: number;
  step: number;
}

/** A time with counts. */
export interface Point {
  at: Date;
  counts: Counts;
}

type Series = Record<Counted, (number | null)[]>;

/** Returns the span that ends with the value in progress. */
export function computeSpan(range: Range, now: number): Span {
  const { ms, unit, step } = RANGES[range];
  const to = (Math.floor(now / step) + 1) * step;
  return { unit, from: to - ms, to, step };
}

/** Sums points into the values of a span: null where nothing was recorded. */
export function toSeries(
  span: Span,
  points: Point[],
  recorded: Pick<RecordedDoc, "at" | "minutes">[],
): Series {
  const { from, to, step } = span;
  const length = (to - from) / step;
  const series = Object.fromEntries(COUNTED.map((name) => [name, new Array(length).fill(null)])) as Series;
  const slotOf = (ms: number) => Math.floor((ms - from) / step);
  const isRecorded = new Array<boolean>(length).fill(false);
  const mark = (ms: number) => {
    if (ms >= from && ms < to) isRecorded[slotOf(ms)] = true;
  };
  for (const { at, minutes } of recorded)
    for (const minute of minutes) mark(at.getTime() + minute * MINUTE_MS);
  // A count says the same, whether or not its minute was marked.
  for (const { at } of points) mark(at.getTime());
  for (const name of COUNTED) for (let i = 0; i < length; i++) if (isRecorded[i]) series[name][i] = 0;
  for (const { at, counts } of points) {
    const slot = slotOf(at.getTime());
    if (slot < 0 || slot >= length) continue;
    for (const name of COUNTED) (series[name][slot] as number) += counts[name] ?? 0;
  }
  return series;
}

export function sumCounts(all: Counts[]): Record<Counted, number> {
  const sum = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<Counted, number>;
  for (const counts of all) for (const name of COUNTED) sum[name] += counts[name] ?? 0;
  return sum;
}
