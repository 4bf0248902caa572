import { globSync } from "node:fs";
import { join } from "node:path";
import type { Schema } from "mongoose";
import type { Model } from "../../storage/model.ts";
import { type Check, explained, NotSupported, stagesOf } from "./checks.ts";

const ROOT = join(import.meta.dirname, "../..");
const BAD = new Set(["COLLSCAN", "SORT"]);

/** Every index must serve rows of one value of its first field in the order of the others, without reading all or sorting. */
export const checkPlans: Check = async ({ store }) => {
  const faults: string[] = [];
  let count = 0;
  for (const model of await allModels()) {
    const rows = store.collection(model).system;
    await store.ready();
    for (const [fields] of model.schema.indexes() as [Record<string, 1 | -1>, object][]) {
      const [[first], ...others] = Object.entries(fields) as [[string, 1], ...[string, 1][]];
      const sort = Object.fromEntries(others);
      const plan = await explained(() =>
        rows.find({ [first]: "x" } as never, { sort, bounded: "only explained" }).explain("queryPlanner"),
      );
      const stages = stagesOf(plan.queryPlanner?.winningPlan);
      if (stages.length === 0) throw new NotSupported("plans of another form than MongoDB's");
      if (stages.some((stage) => BAD.has(stage)))
        faults.push(`${model.name} ${Object.keys(fields).join(", ")}: ${stages.join(", ")}`);
      count++;
    }
  }
  if (faults.length > 0) throw new Error(faults.join("; "));
  return `${count} indexes`;
};

async function allModels(): Promise<(Model<{ _id: string; tenant_id: string }> & { schema: Schema })[]> {
  const files = globSync("services/**/*.model.ts", { cwd: ROOT });
  const modules: object[] = await Promise.all(files.map((file) => import(join(ROOT, file))));
  return modules
    .flatMap((module) => Object.values(module))
    .filter((each) => typeof each?.schema?.indexes === "function");
}
