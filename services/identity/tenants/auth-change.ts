import type { Context } from "moleculer";

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
 * Announces changed rights once they are written. Gateways check the callers that they serve every 2 s: rights take
 * effect on every node within 5 seconds, even if the event is lost.
 */
export function announceAuthChange(ctx: Pick<Context, "broadcast">, change: AuthChange): Promise<void> {
  return ctx.broadcast("auth.changed", change);
}
