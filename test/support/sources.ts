import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

export interface Import {
  /** The imported file, from the root of the project. */
  of: string;
  /** Only its types: nothing of it runs here. */
  typeOnly: boolean;
}

export interface Source {
  /** From the root of the project, with forward slashes. */
  file: string;
  text: string;
  /** Imports of files of ours, dynamic ones included. */
  imports: Import[];
}

// One statement, over lines too: `import type {…} from "./x.ts"`, `export * from "./x.ts"`, `import("./x.ts")`.
const IMPORT =
  /^(?:import|export)\s+(type\s+)?[^;"']*?from\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"\s*\)|^import\s+"(\.[^"]+)"/gm;

/** The project's own TypeScript files that fit a pattern. */
export function sources(...patterns: string[]): Source[] {
  return globSync(patterns, { cwd: ROOT, exclude: (name) => name === "node_modules" })
    .map((file) => file.split(sep).join("/"))
    .sort()
    .map((file) => {
      const text = readFileSync(join(ROOT, file), "utf8");
      return { file, text, imports: importsOf(file, text) };
    });
}

function importsOf(file: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map(([, typed, from, dynamic, bare]) => ({
    of: normalize(join(dirname(file), (from ?? dynamic ?? bare) as string))
      .split(sep)
      .join("/"),
    typeOnly: typed !== undefined,
  }));
}
