/** Checks `docs/openapi.json` by the rules that Redocly recommends (`redocly.yaml`), and prints what it finds. */
import { join } from "node:path";
import { formatProblems, getTotals, lint, loadConfig } from "@redocly/openapi-core";

const config = await loadConfig({ configPath: join(import.meta.dirname, "redocly.yaml") });
const problems = await lint({ ref: join(import.meta.dirname, "openapi.json"), config });
const totals = getTotals(problems);
formatProblems(problems, { format: "stylish", totals, version: "" });
if (totals.errors > 0) process.exitCode = 1;
