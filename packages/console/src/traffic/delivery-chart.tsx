import { Suspense, useMemo } from "react";
import type { TrafficHistory } from "../../../client/index.ts";
import { api } from "../data/api.ts";
import { useRead } from "../data/queries.ts";
import { useSession } from "../data/session.ts";
import { useAddress } from "../data/use-address.ts";
import { ErrorBoundary, lazily } from "../shell/error-boundary.tsx";
import { findAgents } from "../ui/combo.tsx";
import { ComboFilter, SegmentsFilter, SelectFilter } from "../ui/filters.tsx";
import { Card, Skeleton } from "../ui/page.tsx";
import { Load } from "../ui/table.tsx";
import "./delivery-chart.css";
import { compact, dateTime, duration, filled, hourMinute, number } from "../data/format.ts";
import type { Line } from "../ui/chart.tsx";
import { barsOf, meanOf, sumOf } from "./bars.ts";

/** Loaded separately: the chart library reads the browser's language as it loads, which some browsers lack. */
const Chart = lazily(async () => (await import("../ui/chart.tsx")).Chart);

/** Published events and the outcome of their deliveries over time, of all agents or one. The choices are in the address. */
export function DeliveryChart({ agentId }: { agentId?: string }) {
  const [search] = useAddress();
  const asked = search.get("range");
  const range = isRange(asked) ? asked : "15m";
  const type = search.get("type");
  const history = useRead(
    api.live.history,
    { range, ...filled({ agent_id: agentId ?? search.get("agent"), type }) },
    ["event", "clock"],
    // At the pace of its values.
    { keeps: true, pauseMs: RANGES[range].refreshMs },
  );
  const chart = useMemo(() => history.data && toChart(history.data), [history.data]);
  return (
    <Card
      title="Traffic"
      actions={<SegmentsFilter name="range" label="Time range" options={CHOICES} replace />}
    >
      <Choices type={type} ofOne={agentId !== undefined} types={history.data?.types ?? []} />
      <ErrorBoundary what="The chart">
        <Suspense fallback={<Skeleton lines={6} />}>
          <Load of={{ ...history, data: chart }} lines={6}>
            {(drawn) => <Chart {...drawn} />}
          </Load>
        </Suspense>
      </ErrorBoundary>
    </Card>
  );
}

/** Filters by agent, unless it is that of the page, and by type, for those who may read them. */
function Choices({ type, ofOne, types }: { type: string | null; ofOne: boolean; types: string[] }) {
  const { may } = useSession();
  const byAgent = !ofOne && may("agents.list");
  const all = type && !types.includes(type) ? [type, ...types] : types;
  if (!byAgent && all.length === 0) return null;
  return (
    <div className="filters traffic-filters">
      {byAgent && <ComboFilter name="agent" label="Agent" find={findAgents} none="All agents" replace />}
      <SelectFilter
        name="type"
        label="Event type"
        options={[{ value: "", label: "All types" }, ...all.map((value) => ({ value, label: value }))]}
        replace
      />
    </div>
  );
}

/** The time ranges: their names, and how often they are loaded again. */
const RANGES = {
  "15m": { label: "15 min", whole: "Last 15 minutes", refreshMs: 5000 },
  "1h": { label: "1 h", whole: "Last hour", refreshMs: 5000 },
  "24h": { label: "24 h", whole: "Last 24 hours", refreshMs: 30_000 },
  "7d": { label: "7 d", whole: "Last 7 days", refreshMs: 60_000 },
} as const;
type Range = keyof typeof RANGES;

const CHOICES = (Object.keys(RANGES) as Range[]).map((value) => ({ value, label: RANGES[value].label }));

const isRange = (value: string | null): value is Range => value !== null && Object.hasOwn(RANGES, value);

const LINES = [
  ["published", "Published", "--chart-1"],
  ["created", "Deliveries", "--chart-4"],
  ["acknowledged", "Acknowledged", "--chart-3"],
  ["failed", "Failed attempts", "--chart-2"],
  ["dead_lettered", "Dead letters", "--chart-5"],
] as const;

const UNITS: Record<number, string> = { 60: "per minute", 1800: "per half an hour", 21600: "per 6 hours" };
/** Of a bar, by the seconds between two values: of fewer seconds there would be too many to see. */
const BAR_SECONDS: Record<number, number> = { 300: 1800, 3600: 21_600 };

/** Converts a history to what the chart draws. */
function toChart({ range, from, to, step_seconds, series, totals }: TrafficHistory) {
  const first = Date.parse(from) / 1000;
  const step = BAR_SECONDS[step_seconds] ?? step_seconds;
  const bars = barsOf(series.published.length, first, step_seconds, step);
  const summed = (values: readonly (number | null)[]) =>
    bars.map(({ begin, end }) => sumOf(values.slice(begin, end)));
  const unit = UNITS[step] as string;
  const { whole } = RANGES[range];
  return {
    label: `Traffic ${unit}, ${whole.toLowerCase()}: ${LINES.map(([key, label]) => `${label} ${number(totals[key])}`).join(", ")}`,
    unit,
    whole: `${whole}, in all`,
    from: bars[0]?.time ?? first,
    to: (bars.at(-1)?.time ?? first) + step,
    times: bars.map(({ time }) => time),
    lines: LINES.map(
      ([key, label, color]): Line => ({
        label,
        color,
        values: summed(series[key]),
        total: compact(totals[key]),
      }),
    ),
    remark: {
      label: "Mean latency",
      values: bars.map((bar) => meanOf(series, bar)),
      total: totals.latency_seconds === null ? "–" : duration(totals.latency_seconds),
      format: duration,
    },
    format: number,
    timeOf: (at: number) => {
      const end = at + step;
      const isComplete = end * 1000 <= Date.parse(to);
      return `${dateTime(new Date(at * 1000))} – ${isComplete ? hourMinute(new Date(end * 1000)) : "now"}`;
    },
  };
}
