/**
 * Writes docs/reference from the contracts, the settings and the command line, and what the Helm chart repeats of the
 * code, and the alert rules and dashboards. With `--check` only tells whether these are the present ones.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { CHART, chartFiles } from "./chart.ts";
import { DEPLOY, monitoringFiles } from "./monitoring/files.ts";
import { referencePages } from "./pages.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(import.meta.dirname, "../reference");

const pages = referencePages();
await mkdir(FOLDER, { recursive: true });
const there = (await readdir(FOLDER)).filter((name) => name.endsWith(".md"));
for (const name of new Set([...Object.keys(pages), ...there])) await put(join(FOLDER, name), pages[name]);
for (const [name, text] of Object.entries(chartFiles())) await put(join(CHART, name), text);
for (const [name, text] of Object.entries(monitoringFiles())) await put(join(DEPLOY, name), text);

async function put(file: string, wanted: string | undefined): Promise<void> {
  if (wanted === (await readFile(file, "utf8").catch(() => undefined))) return;
  if (process.argv.includes("--check")) {
    console.error(`${relative(ROOT, file)} is not what the code says: run \`npm run openapi\`.`);
    process.exitCode = 1;
  } else if (wanted === undefined) await rm(file);
  else await writeFile(file, wanted);
}
