/**
 * Writes the files of generated/ that are kept: from the contracts, and copies of what the client shares with the service.
 * With `--check` only tells whether they are the present ones.
 */
import { readFile, writeFile } from "node:fs/promises";
import { operations } from "../../../services/contracts.ts";
import { tableOf } from "./operations.ts";

const copyOf = async (file: string) =>
  `// A copy of ${file}, written by \`npm run openapi\`.\n${await readFile(new URL(`../../../${file}`, import.meta.url), "utf8")}`;
const WANTED = {
  "operations.ts": tableOf(operations),
  "file-types.ts": await copyOf("lib/http/file-types.ts"),
  "budget.ts": await copyOf("lib/text/budget.ts"),
  "quoted.ts": await copyOf("lib/text/quoted.ts"),
  "redact.ts": await copyOf("lib/text/redact.ts"),
};

for (const [name, wanted] of Object.entries(WANTED)) {
  const file = new URL(`../generated/${name}`, import.meta.url);
  if (!process.argv.includes("--check")) await writeFile(file, wanted);
  else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
    console.error(`packages/client/generated/${name} is out of date: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
