/**
 * Writes docs/reference from the contracts, the settings and the command line. With `--check` only tells whether it is
 * the present one.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { referencePages } from "./pages.ts";

const FOLDER = join(import.meta.dirname, "../reference");

const pages = referencePages();
await mkdir(FOLDER, { recursive: true });
const there = (await readdir(FOLDER)).filter((name) => name.endsWith(".md"));
for (const name of new Set([...Object.keys(pages), ...there])) {
  const file = join(FOLDER, name);
  const wanted = pages[name];
  if (wanted === (await readFile(file, "utf8").catch(() => undefined))) continue;
  if (process.argv.includes("--check")) {
    console.error(`docs/reference/${name} is not what the code says: run \`npm run openapi\`.`);
    process.exitCode = 1;
  } else if (wanted === undefined) await rm(file);
  else await writeFile(file, wanted);
}
