import { createRequire } from "node:module";
import { join } from "node:path";
import { type Alert, alerts } from "./alerts.ts";
import { type Dashboard, dashboards, type Panel } from "./dashboards.ts";

/** js-yaml brings no types. */
const yaml = createRequire(import.meta.url)("js-yaml") as {
  dump(value: unknown, options: { lineWidth: number }): string;
};

export const DEPLOY = join(import.meta.dirname, "../../../deploy");
const HEADER = "# Written by `npm run openapi` from docs/generate/monitoring/alerts.ts.\n";

/** Returns the alert rules of Prometheus and the dashboards of Grafana, by their paths in `deploy`. */
export function monitoringFiles(): Record<string, string> {
  const rules = { groups: [{ name: "sensorium", rules: alerts.map(toRule) }] };
  return {
    "prometheus-alerts.yml": HEADER + yaml.dump(rules, { lineWidth: -1 }),
    ...Object.fromEntries(
      dashboards.map((each) => [`grafana/${each.uid}.json`, `${JSON.stringify(toGrafana(each), null, 2)}\n`]),
    ),
  };
}

function toRule({ name, expr, for: duration, severity, summary, runbook }: Alert) {
  return {
    ...{ alert: name, expr, for: duration, labels: { severity } },
    annotations: { summary, runbook: `docs/runbooks/${runbook}.md` },
  };
}

const WIDTH = 24;
const HEIGHT = 8;
const DATASOURCE = { type: "prometheus", uid: "$datasource" };

function toGrafana({ uid, title, rows }: Dashboard) {
  const panels: object[] = [];
  for (const [row, of] of Object.entries(rows)) {
    const y = panels.length && Object.keys(rows).indexOf(row) * (HEIGHT + 1);
    const place = { x: 0, y, w: WIDTH, h: 1 };
    panels.push({
      id: panels.length + 1,
      type: "row",
      title: row,
      collapsed: false,
      gridPos: place,
      panels: [],
    });
    const w = WIDTH / of.length;
    for (const [i, each] of of.entries())
      panels.push({ id: panels.length + 1, ...toPanel(each), gridPos: { x: i * w, y: y + 1, w, h: HEIGHT } });
  }
  return {
    ...{
      uid,
      title,
      tags: ["sensorium"],
      schemaVersion: 39,
      refresh: "30s",
      time: { from: "now-6h", to: "now" },
    },
    templating: {
      list: [{ name: "datasource", label: "Data source", type: "datasource", query: "prometheus" }],
    },
    panels,
  };
}

function toPanel({ title, unit, queries }: Panel) {
  return {
    ...{ type: "timeseries", title, datasource: DATASOURCE },
    fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
    targets: Object.entries(queries).map(([legendFormat, expr], i) => ({
      ...{ refId: String.fromCharCode(65 + i), datasource: DATASOURCE, expr, legendFormat },
    })),
  };
}
