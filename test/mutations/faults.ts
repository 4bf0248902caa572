import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** A small change of the code that a test must notice. */
export interface Fault {
  what: string;
  file: string;
  /** Occurs once in the file. */
  from: string;
  to: string;
  /** The files whose tests should see it. */
  tests: string[];
}

/**
 * Those of faults.txt, where an empty line stands between two: what is wrong, the file with the tests that should see it,
 * and the lines (or parts of them) before and after the change as in a diff. Lines with a `#` are headings.
 */
const ALL = readFileSync(join(import.meta.dirname, "faults.txt"), "utf8")
  .trimEnd()
  .split("\n\n")
  .filter((block) => !block.startsWith("#"))
  .map(parse);

function parse(block: string): Fault {
  const [what = "", where = "", ...lines] = block.split("\n");
  const [file = "", tests = ""] = where.split(": ");
  const marked = (sign: string) =>
    lines
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(1))
      .join("\n");
  return { what, file, from: marked("-"), to: marked("+"), tests: tests.split(" ").map(pathOf) };
}

function pathOf(name: string): string {
  return name.startsWith("extensions/") ? `${name}.test.ts` : `test/${name}.test.ts`;
}

/** A removed extension has none. */
export const FAULTS = ALL.filter(
  ({ file }) => !file.startsWith("extensions/") || existsSync(join(ROOT, file)),
);
