import type { AnyModel } from "../storage/model.ts";
import { INSTALLED } from "./extensions.ts";
import { modulesNamed } from "./modules.ts";

/**
 * Every collection, of the files named `*.model.ts` and of the installed extensions, whether they run or not: whatever must
 * reach all of them, on any node, goes through this.
 */
export const MODELS: readonly AnyModel[] = [
  ...(await modulesNamed("model")).flatMap((module) =>
    Object.values(module).filter((each) => typeof each === "object" && "schema" in each && "erasure" in each),
  ),
  ...INSTALLED.flatMap(({ models = [] }) => models),
];
