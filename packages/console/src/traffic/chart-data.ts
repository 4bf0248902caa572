import type { TrafficHistory } from "../../../client/index.ts";
import { compact, dateTime, duration, number } from "../data/format.ts";
import type { Line } from "../ui/chart.tsx";

/** The time ranges: their names, and how often they are loaded again. */
export const RANGES = {
  "15m": { label: "15 min", whole: "Last 15 minutes", refreshMs: 5000 },
  "1h": { label: "1 h", whole: "Last hour", refreshMs: 5000 },
  "24h": { label: "24 h", whole: "Last 24 hours", refreshMs: 30_000 },
  "7d": { label: "7 d", whole: "Last 7 days", refreshMs: 60_000 },
} as const;
export type Range = keyof typeof RANGES;

export const isRange = (value: string | null): value is Range =>
  value !== null && Object.hasOwn(RANGES, value);

const LINES = [
  ["published", "Published", "--chart-1"],
  ["created", "Deliveries", "--chart-4"],
  ["acknowledged", "Acknowledged", "--chart-3"],
  ["failed", "Failed attempts", "--chart-2"],
  ["dead_lettered", "Dead letters", "--chart-5"],
] as const;

const UNITS: Record<number, string> = { 60: "per minute", 300: "per 5 minutes", 3600: "per hour" };
const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Converts a history to what the chart draws. */
export function toChart({ range, from, to, step_seconds: step, series, totals }: TrafficHistory) {
  const first = Date.parse(from) / 1000;
  const unit = UNITS[step] as string;
  const { whole } = RANGES[range];
  const latency = (seconds: number) => duration(seconds);
  return {
    label: `Traffic ${unit}, ${whole.toLowerCase()}: ${LINES.map(([key, label]) => `${label} ${number(totals[key])}`).join(", ")}`,
    unit,
    whole: `${whole}, in all`,
    from: first,
    to: Date.parse(to) / 1000,
    times: series.published.map((_, i) => first + i * step),
    lines: LINES.map(
      ([key, label, color]): Line => ({
        label,
        color,
        values: series[key],
        total: compact(totals[key]),
      }),
    ),
    remarks: [
      {
        label: "Mean latency",
        values: series.latency_seconds,
        total: totals.latency_seconds === null ? "–" : latency(totals.latency_seconds),
        format: latency,
      },
    ],
    format: number,
    timeOf: (at: number) => {
      const end = at + step;
      const isComplete = end * 1000 <= Date.parse(to);
      return `${dateTime(new Date(at * 1000))} – ${isComplete ? TIME.format(new Date(end * 1000)) : "now"}`;
    },
  };
}
