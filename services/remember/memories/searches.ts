import type { Call } from "../../../lib/access/caller.ts";

/** Reports a tenant's first search on this node to onboarding: no row of a memory shows it. */
export class Searches {
  readonly #told = new Set<string>();

  async note(ctx: Pick<Call, "call" | "meta" | "broker">): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    if (this.#told.has(tenant_id)) return;
    this.#told.add(tenant_id);
    try {
      await ctx.call("onboarding.searched", { tenant_id });
    } catch (err) {
      // The search succeeds anyway: the next one reports it.
      this.#told.delete(tenant_id);
      ctx.broker.logger.debug("memories: a search could not be noted", err);
    }
  }
}
