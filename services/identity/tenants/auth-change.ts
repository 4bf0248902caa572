import type { Context } from "moleculer";
import { accessVersions } from "../../../storage/access/access-versions.ts";
import type { Store } from "../../../storage/connection.ts";

/** Callers whose rights may have changed: all of the tenant that match the given fields (event `auth.changed`). */
export interface AuthChange {
  tenant_id: string;
  agent_id?: string;
  user_id?: string;
  key_id?: string;
  token_id?: string;
  session_id?: string;
}

/**
 * Announces changed rights: they take effect on every node within 5 seconds, even if the event is lost. Call it after
 * the change is written and before it is answered, and again for a repeated request: the first may have been interrupted
 * in between.
 */
export async function announceAuthChange(ctx: Context, store: Store, change: AuthChange): Promise<void> {
  try {
    await accessVersions(store).raise(change.tenant_id);
  } finally {
    await ctx.broadcast("auth.changed", change);
  }
}
