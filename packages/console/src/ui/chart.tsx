import { useEffect, useId, useRef, useState } from "react";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./chart.css";
import { useDark } from "../shell/theme.ts";
import { newPlot, type Plot } from "./plot.ts";

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

/** The way to the last value, which still grows: a line of its own, so that it does not look like a drop. */
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

function Legend({
  unit,
  lines,
  remarks = [],
  times,
  timeOf,
  whole,
  format,
  at,
  hidden,
  toggle,
}: LegendProps) {
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
