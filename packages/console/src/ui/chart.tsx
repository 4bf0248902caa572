import { useEffect, useId, useRef, useState } from "react";
import uPlot from "uplot";
import { compact } from "../data/format.ts";
import { useDark } from "../shell/theme.ts";
import "uplot/dist/uPlot.min.css";
import "./chart.css";

export interface Line {
  label: string;
  /** A custom property: `--accent`. */
  color: string;
  /** Null where there is no value: the line has a gap. The last value is in progress. */
  values: readonly (number | null)[];
  /** In the legend while no time is pointed at. */
  total: string;
}

/** The first line is drawn last, above the others: several are often at zero. */
const inDrawnOrder = (lines: readonly Line[]) => lines.toReversed();

type Values = Line["values"];

const complete = (values: Values) => values.map((value, at) => (at < values.length - 1 ? value : null));

/** The way to the last value, which still grows: a separate line, so that it does not look like a drop. */
const inProgress = (values: Values) => values.map((value, at) => (at < values.length - 2 ? null : value));

/** A value in the legend that has no line. */
interface Remark {
  label: string;
  values: readonly (number | null)[];
  total: string;
  format(value: number): string;
}

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
  remarks?: readonly Remark[];
  format(value: number): string;
  /** Describes the time of a value, and the time of all. */
  timeOf(at: number): string;
  whole: string;
  height?: number;
}

/**
 * Lines over time, with the values at the pointer in the legend; a click on a line's name hides it. New data updates the
 * chart in place; another theme or other lines recreate it.
 */
export function Chart({ height = 220, ...props }: ChartProps) {
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
    const what: Plot = { lines: inDrawnOrder(lines), height, range: () => range.current, onPoint: setAt };
    const made = newPlot(element, what);
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      made.destroy();
    };
  }, [shape, height, dark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a recreated picture is empty
  useEffect(() => {
    const drawn = inDrawnOrder(lines).map(({ values }) => values);
    plot.current?.setData([times, ...drawn.map(complete), ...drawn.map(inProgress)]);
  }, [times, lines, shape, dark]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a recreated picture shows all lines
  useEffect(() => {
    for (const [i, { label: name }] of inDrawnOrder(lines).entries())
      for (const at of [i + 1, i + 1 + lines.length])
        plot.current?.setSeries(at, { show: !hidden.has(name) });
  }, [hidden, shape, dark]);

  /** Points at a value, as keys do. */
  const point = (to: number | null) => {
    const left = to === null ? -1 : (plot.current?.valToPos(times[to] as number, "x") ?? -1);
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
  /** The position of the value that is pointed at. */
  at: number | null;
  hidden: ReadonlySet<string>;
  toggle(name: string): void;
}

function Legend(props: LegendProps) {
  const { unit, lines, remarks = [], times, timeOf, whole, format, at, hidden, toggle } = props;
  const id = useId();
  const shownOf = ({ values, total }: Line | Remark, write: (value: number) => string) => {
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
            title={hidden.has(line.label) ? "Show this line" : "Hide this line"}
            onClick={() => toggle(line.label)}
          >
            <span className="chart-key" style={{ background: `var(${line.color})` }} aria-hidden />
            {line.label} <strong>{shownOf(line, format)}</strong>
          </button>
        ))}
        {remarks.map((remark) => (
          <span key={remark.label}>
            {remark.label} <strong>{shownOf(remark, remark.format)}</strong>
          </span>
        ))}
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

interface Drawn {
  label: string;
  color: string;
}

interface Plot {
  lines: readonly Drawn[];
  height: number;
  /** Returns beginning and end of the horizontal axis, in seconds since the epoch. */
  range(): [number, number];
  /** Called with the position of the value that is pointed at, or null. */
  onPoint(at: number | null): void;
}

const FONT = "11px Inter Variable, sans-serif";
const TIME = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
/** Counts are whole. */
const STEPS = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power));

/** Dashes of the part that is not complete. */
const IN_PROGRESS = [3, 3];

/** Draws lines on a canvas in an element: each has a second series, for the part in progress. */
function newPlot(element: HTMLElement, { lines, height, range, onPoint }: Plot): uPlot {
  const color = (name: string) => colorOf(element, name);
  const axis = {
    stroke: color("--text-3"),
    font: FONT,
    grid: { stroke: color("--border"), width: 1 },
    ticks: { show: false },
  };
  const options: uPlot.Options = {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
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
      ...lines.map((line) => ({ ...toSeries(line, color(line.color)), dash: IN_PROGRESS })),
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
  return at.getHours() === 0 && at.getMinutes() === 0 ? DATE.format(at) : TIME.format(at);
}

function toSeries({ label }: Drawn, stroke: string): uPlot.Series {
  return {
    label,
    stroke,
    width: 1.75,
    points: {
      show: true,
      size: 4,
      width: 0,
      fill: stroke,
      filter: (plot, series) => lonely(plot.data[series]),
    },
  };
}

/** Returns the positions of values between two gaps: no line shows them. */
function lonely(values: ArrayLike<number | null | undefined> = []): number[] {
  const isGap = (at: number) => values[at] === null || values[at] === undefined;
  return Array.from(values, (_, at) => at).filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1));
}
