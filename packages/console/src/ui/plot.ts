import uPlot from "uplot";
import { compact } from "../data/format.ts";

interface Drawn {
  label: string;
  color: string;
}

export interface Plot {
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
export function newPlot(element: HTMLElement, { lines, height, range, onPoint }: Plot): uPlot {
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
