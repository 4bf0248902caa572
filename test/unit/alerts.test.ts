import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { alerts } from "../../docs/generate/monitoring/alerts.ts";
import { DEPLOY } from "../../docs/generate/monitoring/files.ts";

const ROOT = join(import.meta.dirname, "../..");
const RUNBOOKS = join(ROOT, "docs/runbooks");
/** js-yaml brings no types. */
const yaml = createRequire(import.meta.url)("js-yaml") as { load(text: string): unknown };
const load = (file: string) => yaml.load(readFileSync(join(DEPLOY, file), "utf8"));

test("the cluster's Prometheus loads the rules, for the job that they name", () => {
  const { rule_files, scrape_configs } = load("prometheus.yml") as Record<string, unknown[]>;
  const { services } = load("docker-compose.cluster.yml") as {
    services: { prometheus: { volumes: string[] } };
  };
  expect(scrape_configs).toMatchObject([{ job_name: "sensorium" }]);
  expect(rule_files).toHaveLength(1);
  expect(services.prometheus.volumes).toContain(`./prometheus-alerts.yml:${rule_files?.[0]}:ro`);
});

/** Runbooks of what no metric shows. */
const PROCEDURES = ["database-damaged.md", "key-leaked.md"];

describe("runbooks", () => {
  test("there is one for each alert, under its name", () => {
    const pages = readdirSync(RUNBOOKS).filter((name) => !["README.md", ...PROCEDURES].includes(name));
    expect(pages.sort()).toEqual(alerts.map(({ runbook }) => `${runbook}.md`).sort());
    for (const { name, runbook } of alerts)
      expect(readFileSync(join(RUNBOOKS, `${runbook}.md`), "utf8")).toMatch(
        new RegExp(`^# ${name}\n\n.+\n\n## Check\n\n.+\n\n## Fix\n\n.+`, "s"),
      );
  });

  test("the index has each with its severity, in order", () => {
    const rows = [...readFileSync(join(RUNBOOKS, "README.md"), "utf8").matchAll(/^\| \[.*$/gm)].map(
      ([row]) => row,
    );
    expect(rows).toEqual(
      alerts.map(({ name, runbook, severity }) => `| [${name}](${runbook}.md) | ${severity} |`),
    );
  });
});
