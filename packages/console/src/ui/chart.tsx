import { useEffect, useId, useRef, useState } from "react";
import uPlot from "uplot";
import { compact, hourMinute } from "../data/format.ts";
import { useDark } from "../shell/theme.ts";
import "uplot/dist/uPlot.min.css";
import "./chart.css";

export interface Line {
  label: string;
  /** A custom property: `--accent`. */
  color: string;
  /** Null where there is no value. The last value is in progress. */
  values: readonly (number | null)[];
  /** In the legend while no time is pointed at. */
  total: string;
}

type Values = Line["values"];

const complete = (values: Values) => values.map((value, at) => (at < values.length - 1 ? value : null));

/** The last value, which still grows: paler, so that it does not look like a drop. */
const inProgress = (values: Values) => values.map((value, at) => (at < values.length - 1 ? null : value));

interface ChartProps {
  /** A description for screen readers. */
  label: string;
  /** The unit of the values: "per minute". */
  unit: string;
  /** Beginning and end of the horizontal axis, in seconds since the epoch. */
  from: number;
  to: number;
  /** The time of each value, in seconds since the epoch. */
  times: number[];
  lines: readonly Line[];
  /** A value in the legend that has no line. */
  remark: Omit<Line, "color"> & { format(value: number): string };
  format(value: number): string;
  /** Describes the time of a value, and the time of all. */
  timeOf(at: number): string;
  whole: string;
}

/**
 * Bars over time, with the values at the pointer in the legend; a click on a name hides its bars. New data updates the
 * chart in place; another theme or other names recreate it.
 */
export function Chart(props: ChartProps) {
  const { label, from, to, times, lines } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const range = useRef<[number, number]>([from, to]);
  const [at, setAt] = useState<number | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const dark = useDark();
  const shape = lines.map(({ label: name, color }) => `${name} ${color}`).join();
  range.current = [from, to];

  // biome-ignore lint/correctness/useExhaustiveDependencies: `dark` changes what the properties hold
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const made = newPlot(element, { lines, range: () => range.current, onPoint: setAt });
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [shape, dark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a recreated picture is empty
  useEffect(() => {
    const drawn = lines.map(({ values }) => values);
    plot.current?.setData([times, ...drawn.map(complete), ...drawn.map(inProgress)]);
  }, [times, lines, shape, dark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a recreated picture shows all lines
  useEffect(() => {
    for (const [i, { label: name }] of lines.entries())
      for (const at of [i + 1, i + 1 + lines.length])
        plot.current?.setSeries(at, { show: !hidden.has(name) });
    // The others get their place.
    plot.current?.redraw();
  }, [hidden, shape, dark]);

  /** Points at a value, as keys do. */
  const point = (to: number | null) => {
    const middle = to === null ? 0 : (times[to] as number) + stepOf(times) / 2;
    const left = to === null ? -1 : (plot.current?.valToPos(middle, "x") ?? -1);
    plot.current?.setCursor({ left, top: 0 });
  };
  const toggle = (name: string) =>
    setHidden((old) =>
      old.has(name) ? new Set([...old].filter((each) => each !== name)) : new Set([...old, name]),
    );
  return (
    <figure className="chart">
      <Legend {...props} at={at} hidden={hidden} toggle={toggle} />
      <div className="chart-plot">
        <input
          type="range"
          className="visually-hidden"
          aria-label="Time"
          aria-valuetext={at === null ? props.whole : textAt(props, at)}
          max={times.length - 1}
          value={at ?? times.length - 1}
          onChange={({ target }) => point(Number(target.value))}
          onBlur={() => point(null)}
        />
        <div ref={place} role="img" aria-label={label} />
      </div>
    </figure>
  );
}

/** Describes the values at a time, for screen readers. */
function textAt({ lines, times, timeOf, format }: ChartProps, at: number): string {
  const values = lines.flatMap(({ label, values: all }) => {
    const value = all[at];
    return value === null || value === undefined ? [] : `${label} ${format(value)}`;
  });
  return `${timeOf(times[at] as number)}: ${values.join(", ") || "not recorded"}`;
}

interface LegendProps extends ChartProps {
  at: number | null;
  hidden: ReadonlySet<string>;
  toggle(name: string): void;
}

function Legend(props: LegendProps) {
  const { unit, lines, remark, times, timeOf, whole, format, at, hidden, toggle } = props;
  const id = useId();
  const shownOf = ({ values, total }: Omit<Line, "color">, write: (value: number) => string) => {
    if (at === null) return total;
    const value = values[at];
    return value === null || value === undefined ? "–" : write(value);
  };
  const isGap = at !== null && lines.every(({ values }) => values[at] === null);
  return (
    <figcaption>
      <div className="chart-legend">
        {lines.map((line) => (
          <button
            key={line.label}
            type="button"
            aria-pressed={!hidden.has(line.label)}
            aria-describedby={id}
            title={hidden.has(line.label) ? "Show" : "Hide"}
            onClick={() => toggle(line.label)}
          >
            <span className="chart-key" style={{ background: `var(${line.color})` }} aria-hidden />
            {line.label} <strong>{shownOf(line, format)}</strong>
          </button>
        ))}
        <span>
          {remark.label} <strong>{shownOf(remark, remark.format)}</strong>
        </span>
      </div>
      <p className="chart-unit">
        <span>{unit}</span>
        <span id={id}>
          {at === null ? whole : timeOf(times[at] as number)}
          {isGap && ": not recorded"}
        </span>
      </p>
    </figcaption>
  );
}

interface Plot extends Pick<ChartProps, "lines"> {
  /** Returns beginning and end of the horizontal axis, in seconds since the epoch. */
  range(): [number, number];
  /** Called with the position of the value that is pointed at, or null. */
  onPoint(at: number | null): void;
}

const HEIGHT = 220;
const FONT = "11px Inter Variable, sans-serif";
const DATE = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
/** Counts are whole. */
const STEPS = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power));

/** Opacity of the value in progress. */
const IN_PROGRESS = 0.45;

/** Draws bars on a canvas in an element: each name has a second series, for the value in progress. */
function newPlot(element: HTMLElement, { lines, range, onPoint }: Plot): uPlot {
  const color = (name: string) => colorOf(element, name);
  const axis = {
    stroke: color("--text-3"),
    font: FONT,
    grid: { stroke: color("--border"), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false }, dataIdx: barAt },
    hooks: { setCursor: [({ cursor: { idx, left = -1 } }) => onPoint(left < 0 ? null : (idx ?? null))] },
    scales: { x: { range }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.15)] } },
    axes: [
      { ...axis, space: 80, size: 28, values: (_, times) => times.map(toTime) },
      {
        ...axis,
        size: 44,
        incrs: STEPS.toSorted((a, b) => a - b),
        values: (_, values) => values.map(compact),
      },
    ],
    series: [
      {},
      ...lines.map((line) => toSeries(line, color(line.color))),
      ...lines.map((line) => ({ ...toSeries(line, color(line.color)), alpha: IN_PROGRESS })),
    ],
  };
  return new uPlot(options, [[], ...lines.map(() => []), ...lines.map(() => [])], element);
}

/** Resolves a custom property in the current theme: a canvas knows no `var` and no `light-dark`. */
function colorOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}

/** Midnight is shown as the day that begins. */
function toTime(time: number): string {
  const at = new Date(time * 1000);
  return at.getHours() === 0 && at.getMinutes() === 0 ? DATE.format(at) : hourMinute(at);
}

/** Returns the seconds between two values. */
const stepOf = (times: ArrayLike<number>) => (times[1] ?? 0) - (times[0] ?? 0) || 60;

/** A value is that of the time from its own to the next. */
const barAt = ({ data: [times] }: uPlot, _series: number, closest: number, at: number) =>
  closest > 0 && (times[closest] ?? 0) > at ? closest - 1 : closest;

function toSeries({ label }: Line, fill: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ disp: PLACES });
  return { label, fill, width: 0, points: { show: false }, ...(paths && { paths }) };
}

/** The part of the time of a value that its bars fill. */
const FILLED = 0.8;
/** Bars that would be narrower stand in one place. */
const LEAST_WIDTH = 1.2;

/** Where the bars of a series are: next to those of the others that are shown, if there is room. */
function placeOf(plot: uPlot, series: number): { from: number; width: number } {
  const step = stepOf(plot.data[0]);
  const count = (plot.series.length - 1) / 2;
  const shown = plot.series.slice(1, count + 1).flatMap(({ show }, at) => (show ? [at] : []));
  const at = Math.max(0, shown.indexOf((series - 1) % count));
  const width = (step * FILLED) / Math.max(1, shown.length);
  const pixels = plot.valToPos(width, "x") - plot.valToPos(0, "x");
  const gap = (step * (1 - FILLED)) / 2;
  return pixels < LEAST_WIDTH ? { from: 0, width: step } : { from: gap + at * width, width };
}

const PLACES = {
  x0: {
    unit: 1,
    values: (plot: uPlot, series: number) => {
      const { from } = placeOf(plot, series);
      return Array.from(plot.data[0], (time) => time + from);
    },
  },
  size: { unit: 1, values: (plot: uPlot, series: number) => [placeOf(plot, series).width] },
} as unknown as uPlot.Series.BarsPathBuilderDisplay;
