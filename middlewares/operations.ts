import type { ActionSchema, Middleware } from "moleculer";
import type { Call, Handler } from "../lib/access/caller.ts";
import type { Operation } from "../lib/contract/contract.ts";
import { audit, auditOf } from "./audit.ts";
import { changesOf, liveChanges } from "./live-changes.ts";

const PROJECT = "project_id";

/** Refuses a project that does not exist, wherever it is named: in what is saved and in filters. Empty is none. */
const projects: Middleware = {
  name: "Projects",
  localAction(next: Handler, { inProject }: ActionSchema & { inProject?: boolean }) {
    if (!inProject) return next;
    return async (ctx: Call<{ [PROJECT]?: string | null }>) => {
      const { tenant_id } = ctx.meta.caller;
      const key = ctx.params[PROJECT];
      if (key) await ctx.call("projects.require", { tenant_id, key });
      return next(ctx);
    };
  },
};

/** Wrappers of the actions of operations, the innermost first. Each reads its property of the action's schema. */
export const operationMiddlewares: Middleware[] = [audit, liveChanges, projects];

/** Returns the properties of an operation's action that the middlewares read. */
export function wrapsOf(op: Operation) {
  return {
    ...auditOf(op),
    ...changesOf(op),
    ...(PROJECT in op.params.properties && { inProject: true }),
  };
}
