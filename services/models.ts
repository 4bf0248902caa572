import { globSync } from "node:fs";
import { join } from "node:path";
import type { AnyModel } from "../storage/model.ts";
import { INSTALLED } from "./extensions.ts";

/** In a checkout, and in the package, whose files have no types. */
const FILES = "{services,storage}/**/*.model.{ts,js}";

const modules: object[] = await Promise.all(
  globSync(FILES, { cwd: join(import.meta.dirname, "..") })
    .sort()
    .map((file) => import(`../${file}`)),
);

/**
 * Every collection, of the files named `*.model.ts` and of the installed extensions, whether they run or not: whatever must
 * reach all of them, on any node, goes through this.
 */
export const MODELS: readonly AnyModel[] = [
  ...modules.flatMap((module) =>
    Object.values(module).filter((each) => typeof each === "object" && "schema" in each && "erasure" in each),
  ),
  ...INSTALLED.flatMap(({ models = [] }) => models),
];
