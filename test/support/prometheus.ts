import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEPLOY } from "../../docs/generate/monitoring/files.ts";
import { startChild } from "./child.ts";

export const RULES = join(DEPLOY, "prometheus-alerts.yml");

/** A series of `/metrics` by its name and labels, and whether it only rises. */
type Series = { value: number; isCounter: boolean };

/** A time of 40 minutes in which each minute is like that between two scrapes; null where the node did not answer. */
export interface Phase {
  from: string | null;
  to: string | null;
  /** Gauges that go on to rise as they did. */
  rising?: string[];
  /** Whether it counts how long things took, which under load says something of the machine that runs the test. */
  isTimed?: boolean;
}

const TIMED = /_bucket$|^sensorium_clock_error_seconds$/;

const MINUTES = 40;

/** Runs promtool. @throws Error with what it printed if it fails */
export async function promtool(...args: string[]): Promise<void> {
  const child = await startChild("promtool", args);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(`promtool ${args.join(" ")}:\n${child.output()}`);
}

/**
 * Expects `firing` to be the names of the alerts that fire at the end of a healthy time and one with a fault, as
 * Prometheus evaluates the rules.
 *
 * @throws Error with the alerts that fire
 */
export async function expectFiring(healthy: Phase, faulty: Phase, firing: string[]): Promise<void> {
  const text = await readFile(RULES, "utf8");
  const labels = firing.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 }));
  const expr = 'group by (alertname) (ALERTS{alertstate="firing"})';
  const queries = [
    { expr, eval_time: `${MINUTES - 1}m`, exp_samples: [] },
    { expr, eval_time: `${2 * MINUTES - 1}m`, exp_samples: labels },
  ];
  const test = {
    rule_files: [RULES],
    evaluation_interval: "1m",
    tests: [{ interval: "1m", input_series: inputOf([healthy, faulty], text), promql_expr_test: queries }],
  };
  await onFile(test, (file) => promtool("test", "rules", file));
}

/** Returns the alerts that fire at the end of these series: values by minute, in promtool's notation. */
export async function firingOn(hours: Record<string, string>): Promise<string[]> {
  const input_series = Object.entries(hours).map(([series, values]) => ({ series, values }));
  const expr = 'group by (alertname) (ALERTS{alertstate="firing"})';
  // It prints what it found instead of nothing.
  const minutes = Object.values(hours).map((values) =>
    [...values.matchAll(/x(\d+)/g)].reduce((sum, [, times]) => sum + Number(times), 0),
  );
  const nothing = [{ expr, eval_time: `${Math.max(...minutes) - 1}m`, exp_samples: [] }];
  const tests = [{ interval: "1m", input_series, promql_expr_test: nothing }];
  const printed = await onFile({ rule_files: [RULES], evaluation_interval: "1m", tests }, (file) =>
    promtool("test", "rules", file).then(
      () => "",
      ({ message }: Error) => message,
    ),
  );
  const found = [...printed.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name as string);
  if (printed && found.length === 0) throw new Error(printed);
  return found;
}

/** @throws Error if Prometheus refuses these rules */
export const checkRules = (rules: object) => onFile(rules, (file) => promtool("check", "rules", file));

async function onFile<T>(content: object, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "sensorium-rules-"));
  try {
    const file = join(folder, "rules.yml");
    // JSON is YAML.
    await writeFile(file, JSON.stringify(content));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Returns the series that the rules name, as promtool takes them. */
function inputOf(phases: Phase[], rules: string): { series: string; values: string }[] {
  const scrapes = phases.map(({ from, to, rising = [], isTimed = false }) => {
    const counted = [...seriesOf(to)].filter(([series]) => isTimed || !TIMED.test(nameOf(series)));
    return { from: seriesOf(from), to: new Map(counted), rising };
  });
  const names = new Set(scrapes.flatMap(({ to }) => [...to.keys()]));
  return [...names]
    .filter((series) => rules.includes(nameOf(series)))
    .map((series) => {
      let last = 0;
      const values = scrapes.flatMap(({ from, to, rising }) => {
        const { value, isCounter } = to.get(series) ?? {};
        if (value === undefined) return Array.from({ length: MINUTES }, () => "_");
        const growth = value - (from.get(series)?.value ?? 0);
        const grows = isCounter || rising.includes(nameOf(series));
        return Array.from({ length: MINUTES }, () => {
          last = grows ? last + growth : value;
          return Number.isFinite(last) ? last.toFixed(9) : "+Inf";
        });
      });
      return { series, values: values.join(" ") };
    });
}

const nameOf = (series: string) => series.replace(/\{.*/, "");

/** Parses a scrape, with the labels that Prometheus adds and its own series `up`. */
export function seriesOf(text: string | null): Map<string, Series> {
  const kinds = new Map<string, string>();
  const series = new Map<string, Series>();
  for (const line of text?.split("\n") ?? []) {
    const [, typed = "", kind = ""] = /^# TYPE (\S+) (\S+)/.exec(line) ?? [];
    if (typed) kinds.set(typed, kind);
    const [, name, labels, value] = /^([a-z]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!name || value === "Nan") continue;
    const isCounter = (kinds.get(name) ?? kinds.get(name.replace(/_(bucket|sum|count)$/, ""))) !== "gauge";
    const all = [labels, OF_NODE].filter(Boolean).join(",");
    series.set(`${name}{${all}}`, { value: Number(value), isCounter });
  }
  series.set(`up{${OF_NODE}}`, { value: Number(text !== null), isCounter: false });
  return series;
}

const OF_NODE = 'instance="node:3000",job="sensorium"';

/** Returns the metrics that a PromQL expression reads, each with the labels that it is selected and grouped by. */
export function selectorsOf(expr: string): { metric: string; labels: string[] }[] {
  return expr.split(/\b(?:and|or)\b/).flatMap((part) => {
    const grouped = [...part.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(/, */));
    const plain = part.replace(/\bby \([^)]*\)/g, "");
    return [...plain.matchAll(/\b((?:sensorium|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g)].map(
      ([, metric = "", matchers = ""]) => ({
        metric,
        labels: [...grouped, ...[...matchers.matchAll(/(\w+)=/g)].map(([, label]) => label as string)],
      }),
    );
  });
}
