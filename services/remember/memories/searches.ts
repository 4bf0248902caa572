import type { Call } from "../../../lib/access/caller.ts";

/** Tells that a tenant has searched, once for each tenant and node: no row of a memory says so. */
export class Searches {
  readonly #told = new Set<string>();

  async note(ctx: Pick<Call, "call" | "meta" | "broker">): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    if (this.#told.has(tenant_id)) return;
    this.#told.add(tenant_id);
    try {
      await ctx.call("onboarding.searched", { tenant_id });
    } catch (err) {
      // A search is not less good for it: the next one tells.
      this.#told.delete(tenant_id);
      ctx.broker.logger.debug("memories: a search could not be noted", err);
    }
  }
}
