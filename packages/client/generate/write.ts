/** Writes generated/operations.ts from the contracts. With `--check` only tells whether it is the present one. */
import { readFile, writeFile } from "node:fs/promises";
import { operations } from "../../../services/contracts.ts";
import { tableOf } from "./operations.ts";

const FILE = new URL("../generated/operations.ts", import.meta.url);
const wanted = tableOf(operations);

if (!process.argv.includes("--check")) await writeFile(FILE, wanted);
else if ((await readFile(FILE, "utf8").catch(() => "")) !== wanted) {
  console.error("packages/client/generated/operations.ts is out of date: run `npm run openapi`.");
  process.exitCode = 1;
}
