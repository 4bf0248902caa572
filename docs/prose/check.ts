/** Checks the words of Markdown, and of strings in the sources of what we ship, against vocabulary.yml. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lint } from "./lint.ts";

const ROOT = join(import.meta.dirname, "../..");
const EXCLUDED = ["**/{node_modules,dist,generated,test}", "bench", "coverage", "data", "docs/prose"];

const files = globSync("**/*.{md,ts,tsx}", { cwd: ROOT, exclude: EXCLUDED }).sort();
const findings: string[] = [];
for (const file of files) findings.push(...(await lint(readFileSync(join(ROOT, file), "utf8"), file)));
if (findings.length > 0) {
  console.error(findings.join("\n"));
  console.error(`${findings.length} findings; docs/prose/vocabulary.yml has each term with examples.`);
  process.exitCode = 1;
}
