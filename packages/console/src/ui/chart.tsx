import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "./chart.css";
import { compact } from "../data/format.ts";
import { useDark } from "../shell/theme.ts";

export interface Line {
  label: string;
  /** A custom property: `--accent`. */
  color: string;
  values: number[];
}

interface ChartProps {
  /** A description for screen readers. */
  label: string;
  /** Seconds since the epoch. */
  times: number[];
  lines: readonly Line[];
  height?: number;
}

/** Lines over time. New data updates the chart in place; another theme recreates it. */
export function Chart({ label, times, lines, height = 220 }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const dark = useDark();
  const shape = lines.map(({ label: name, color }) => `${name} ${color}`).join();

  // biome-ignore lint/correctness/useExhaustiveDependencies: `dark` changes what the properties hold
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const color = (name: string) => colorOf(element, name);
    const made = new uPlot(
      optionsOf(element.clientWidth, height, lines, color),
      [[], ...lines.map(() => [])],
      element,
    );
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
    plot.current?.setData([times, ...lines.map(({ values }) => values)]);
  }, [times, lines, shape, dark]);

  return (
    <figure className="chart">
      <figcaption className="chart-legend">
        {lines.map(({ label: name, color }) => (
          <span key={name}>
            <span className="chart-key" style={{ background: `var(${color})` }} aria-hidden />
            {name}
          </span>
        ))}
      </figcaption>
      <div ref={place} role="img" aria-label={label} />
    </figure>
  );
}

/** Resolves a custom property in the current theme: a canvas knows no `var` and no `light-dark`. */
function colorOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = "";
  return color;
}

function optionsOf(
  width: number,
  height: number,
  lines: readonly Line[],
  color: (name: string) => string,
): uPlot.Options {
  const font = "11px Inter Variable, sans-serif";
  const axis = {
    stroke: color("--text-3"),
    font,
    grid: { stroke: color("--border"), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.15)] } },
    axes: [
      { ...axis, space: 90, size: 28, values: "{HH}:{mm}" as never },
      { ...axis, size: 44, values: (_, values) => values.map(compact) },
    ],
    series: [
      {},
      ...lines.map(({ label, color: name }, at) => ({
        label,
        stroke: color(name),
        width: 1.75,
        points: { show: false },
        // Only the first: several fills would blur together.
        ...(at === 0 && { fill: `color-mix(in srgb, ${color(name)} 9%, transparent)` }),
      })),
    ],
  };
}
