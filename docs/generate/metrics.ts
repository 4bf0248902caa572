import { GAUGES, type NamedGauge, VALUES } from "../../observability/gauges.ts";
import { metrics } from "../../observability/metrics.ts";
import { INSTALLED } from "../../services/extensions.ts";
import { alerts } from "./monitoring/alerts.ts";
import { table } from "./operation.ts";
import { code, row } from "./schema.ts";

/** A metric of prom-client, with the little that is used of it. */
interface Declared {
  name: string;
  help: string;
  labelNames: readonly string[];
}

const toMetric = ({ name, help, label }: NamedGauge) => ({
  ...{ name: `sensorium_${name}`, help, labels: label ? [label] : [], type: "gauge" },
});

/** Returns the table of all metrics by name, each with the alerts that read it. */
export function metricsTable(): string {
  const declared = Object.values(metrics).map((metric) => {
    const { name, help, labelNames } = metric as unknown as Declared;
    return { name, help, labels: labelNames, type: metric.constructor.name.toLowerCase() };
  });
  const gauges: NamedGauge[] = [
    ...Object.entries(VALUES).map(([name, help]) => ({ name, help })),
    ...Object.entries(GAUGES).map(([name, gauge]) => ({ name, ...gauge })),
    ...INSTALLED.flatMap(({ gauges = [] }) => gauges),
  ];
  const rows = [...declared, ...gauges.map(toMetric)]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, help, labels, type }) => {
      const isRead = new RegExp(`\\b${name}(_bucket|_count|_sum)?\\b`);
      const links = alerts
        .filter(({ expr }) => isRead.test(expr))
        .map((alert) => `[${alert.name.replace("Sensorium", "")}](../runbooks/${alert.runbook}.md)`);
      return row([code(name), type, labels.map(code).join(" "), help, links.join(", ")]);
    });
  return table(["Metric", "Type", "Labels", "Meaning", "Alerts"], rows);
}
