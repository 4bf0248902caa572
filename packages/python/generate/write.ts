/**
 * Writes the generated modules of packages/python/src/sensorium from the contracts. `--check` only checks that the files
 * are as they would be written.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operations } from "../../../services/contracts.ts";
import { generated } from "./python.ts";

const FOLDER = join(import.meta.dirname, "../src/sensorium");

for (const [name, wanted] of Object.entries(generated(operations))) {
  const file = join(FOLDER, name);
  if (!process.argv.includes("--check")) await writeFile(file, wanted);
  else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
    console.error(`packages/python/src/sensorium/${name} is out of date: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
