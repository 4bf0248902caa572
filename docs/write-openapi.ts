/** Writes docs/openapi.json from the contracts; with `--check` only tells whether it is the present one. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operations } from "../services/contracts.ts";
import { openApiDocument } from "../services/edge/gateway/openapi/openapi.ts";

const FILE = join(import.meta.dirname, "openapi.json");
const wanted = `${JSON.stringify(openApiDocument(operations), null, 2)}\n`;
if (!process.argv.includes("--check")) await writeFile(FILE, wanted);
else if ((await readFile(FILE, "utf8").catch(() => "")) !== wanted) {
  console.error("docs/openapi.json is not what the contracts say: run `npm run openapi`.");
  process.exitCode = 1;
}
