/**
 * Writes docs/reference from the contracts, the settings and the command line, and what the Helm chart repeats of the
 * code, the alert rules and dashboards, the known senders for the console, and the skill of the plugin for
 * Claude Code. With `--check` only tells whether these are the present ones.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { LLMS_TEXT, SKILL_DESCRIPTION } from "../../services/edge/gateway/pages/docs.ts";
import { CHART, chartFiles } from "./chart.ts";
import { DEPLOY, monitoringFiles } from "./monitoring/files.ts";
import { referencePages, sendersFile } from "./pages.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(import.meta.dirname, "../reference");

const pages = referencePages();
await mkdir(FOLDER, { recursive: true });
const there = (await readdir(FOLDER)).filter((name) => name.endsWith(".md"));
for (const name of new Set([...Object.keys(pages), ...there])) await put(join(FOLDER, name), pages[name]);
for (const [name, text] of Object.entries(chartFiles())) await put(join(CHART, name), text);
for (const [name, text] of Object.entries(monitoringFiles())) await put(join(DEPLOY, name), text);

await put(join(ROOT, "packages/console/generated/senders.json"), sendersFile());

const SKILL = "packages/integrations/claude-code/skills/sensorium/SKILL.md";
await put(join(ROOT, SKILL), `---\nname: sensorium\ndescription: ${SKILL_DESCRIPTION}\n---\n\n${LLMS_TEXT}`);

async function put(file: string, wanted: string | undefined): Promise<void> {
  if (wanted === (await readFile(file, "utf8").catch(() => undefined))) return;
  if (process.argv.includes("--check")) {
    console.error(`${relative(ROOT, file)} is not what the code says: run \`npm run openapi\`.`);
    process.exitCode = 1;
  } else if (wanted === undefined) await rm(file);
  else await writeFile(file, wanted);
}
