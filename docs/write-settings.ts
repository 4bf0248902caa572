/** Writes the settings table into README.md; with `--check` only tells whether it is the present one. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withSettings } from "./settings.ts";

const README = join(import.meta.dirname, "../README.md");
const page = await readFile(README, "utf8");
const wanted = withSettings(page);
if (!process.argv.includes("--check")) await writeFile(README, wanted);
else if (page !== wanted) {
  console.error("README.md does not list the settings of config.ts as they are: run `npm run docs:config`.");
  process.exitCode = 1;
}
