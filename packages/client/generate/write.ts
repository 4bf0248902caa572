/**
 * Writes packages/client/generated from the contracts: how each operation is called, and its types. `--check` only
 * checks that the files exist.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operations } from "../../../services/contracts.ts";
import { generated } from "./files.ts";

const FOLDER = join(import.meta.dirname, "../generated");

for (const [name, wanted] of Object.entries(generated(operations))) {
  const file = join(FOLDER, name);
  if (!process.argv.includes("--check")) await writeFile(file, wanted);
  else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
    console.error(`packages/client/generated/${name} is out of date: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
