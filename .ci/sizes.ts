/**
 * `npm run lint` prints how large the parts of this project are, and fails if one has outgrown its ceiling: who adds to the
 * core takes out as much, or writes an extension. A ceiling is lowered with what it measures, and raised with a reason.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

interface Part {
  name: string;
  files: RegExp;
  most: { lines?: number; files?: number };
}

const GENERATED =
  /^(docs\/(openapi|asyncapi)\.json|docs\/reference\/|packages\/(client|python\/src\/sensorium)\/.*(generated\/|_api\.py|models\.py))/;
const CODE = "\\.(ts|tsx|js|mjs|css|py)$";
const PARTS: Part[] = [
  {
    name: "core",
    files: new RegExp(
      `^([\\w.]+|(bin|connectors|lib|middlewares|mixins|observability|services|storage)/.*)${CODE}`,
    ),
    most: { lines: 81_334, files: 602 },
  },
  {
    name: "embedded driver",
    files: new RegExp(`^packages/mongoose-sqlite/(?!test/).*${CODE}`),
    most: { lines: 5_300, files: 38 },
  },
  { name: "extensions", files: new RegExp(`^extensions/(?!.*/test/).*${CODE}`), most: { lines: 8_358 } },
  {
    name: "generated",
    files: /^packages\/python\/src\/sensorium\/(_api|models)\.py$/,
    most: { lines: 8_000 },
  },
  { name: "console", files: /^packages\/console\/.*\.tsx?$/, most: { lines: 19_577 } },
  {
    name: "tests",
    files: new RegExp(
      `^(test|extensions/[^/]+/test|packages/[^/]+/tests?|packages/integrations/[^/]+/tests?)/.*${CODE}`,
    ),
    most: { lines: 85_194 },
  },
];

const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).split("\n").filter(Boolean);
const linesOf = (file: string) => readFileSync(join(ROOT, file), "utf8").split("\n").length - 1;
const outgrown: string[] = [];
const shown = PARTS.map(({ name, files: pattern, most }) => {
  const own = files.filter((file) => pattern.test(file) && (name === "generated" || !GENERATED.test(file)));
  const sizes = { lines: own.reduce((sum, file) => sum + linesOf(file), 0), files: own.length };
  for (const [unit, ceiling] of Object.entries(most))
    if (sizes[unit as keyof typeof sizes] > ceiling)
      outgrown.push(`${name}: ${sizes[unit as keyof typeof sizes]} ${unit}, at most ${ceiling}`);
  return `${name} ${sizes.lines} lines in ${sizes.files} files`;
});
const root = new Set(files.map((file) => file.split("/", 1)[0])).size;
console.log(`${shown.join("; ")}; ${root} entries at the root`);
for (const each of outgrown) console.error(`outgrown: ${each}`);
process.exitCode = outgrown.length > 0 ? 1 : 0;
