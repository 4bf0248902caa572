/** Writes docs/openapi.json and docs/asyncapi.json from the contracts; with `--check` only tells whether they are the present ones. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { operations } from "../services/contracts.ts";
import { asyncApiDocument } from "./generate/openapi/asyncapi.ts";
import { openApiDocument } from "./generate/openapi/openapi.ts";

await write("openapi.json", openApiDocument(operations));
await write("asyncapi.json", asyncApiDocument());

async function write(name: string, document: object): Promise<void> {
  const file = join(import.meta.dirname, name);
  const wanted = `${JSON.stringify(document, null, 2)}\n`;
  if (!process.argv.includes("--check")) await writeFile(file, wanted);
  else if ((await readFile(file, "utf8").catch(() => "")) !== wanted) {
    console.error(`docs/${name} is not what the contracts say: run \`npm run openapi\`.`);
    process.exitCode = 1;
  }
}
