import type { TrafficHistory } from "../../../client/index.ts";

/** The values that a bar of a chart stands for. */
export interface Bar {
  /** In seconds since the epoch, a multiple of the seconds of a bar: bars keep their values as time passes. */
  time: number;
  /** The positions of its values. */
  begin: number;
  end: number;
}

/** Joins values, one each `step` seconds from `first`, to bars of so many seconds. */
export function barsOf(count: number, first: number, step: number, seconds: number): Bar[] {
  const bars: Bar[] = [];
  for (let at = 0; at < count; at++) {
    const time = Math.floor((first + at * step) / seconds) * seconds;
    const last = bars.at(-1);
    if (last?.time === time) last.end = at + 1;
    else bars.push({ time, begin: at, end: at + 1 });
  }
  return bars;
}

/** Returns null where nothing was recorded. */
export const sumOf = (values: readonly (number | null)[]) =>
  values.reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);

/** Returns the mean latency of a bar: that of its acknowledgements. */
export function meanOf(
  { latency_seconds, acknowledged }: Pick<TrafficHistory["series"], "latency_seconds" | "acknowledged">,
  { begin, end }: Bar,
): number | null {
  let [sum, count] = [0, 0];
  for (let at = begin; at < end; at++) {
    const latency = latency_seconds[at] ?? null;
    if (latency === null) continue;
    const weight = acknowledged[at] || 1;
    sum += latency * weight;
    count += weight;
  }
  return count === 0 ? null : sum / count;
}
