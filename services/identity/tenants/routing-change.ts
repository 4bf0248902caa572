import type { Context } from "moleculer";

/** The subject of a change of a tenant's routing: a kind and an id. A member's id is that of its channel and its agent. */
export type RoutingSubject = `${"interest" | "feed" | "member" | "channel" | "agent"} ${string}`;

/** The current version of a tenant's routing, and what was changed since an earlier one. */
export interface RoutingState {
  version: number;
  /** Subjects of all changes since the earlier version; null if some are no longer recorded. */
  changes: RoutingSubject[] | null;
}

/** Payload of the event `routing.raised`, sent to every node. */
export interface RoutingRaised {
  tenant_id: string;
  version: number;
}

/** Payload of the event `routing.uncounted`, sent to every node: a change may be written under the current version. */
export interface RoutingUncounted {
  tenant_id: string;
}

/**
 * Changes a tenant's routing: `write` is in force for every event accepted after this resolves. Routing tables read the
 * subject's current state when they find a higher version. A change that could not be counted is in force once the
 * tables have been read again (routing.ts).
 */
export async function changeRouting<T>(
  ctx: Pick<Context, "call" | "broadcast">,
  tenant_id: string,
  subject: RoutingSubject,
  write: () => Promise<T>,
): Promise<T> {
  const raise = async () => {
    try {
      const version = await ctx.call<number, object>("tenants.bump_routing", { tenant_id, subject });
      await ctx.broadcast("routing.raised", { tenant_id, version } satisfies RoutingRaised);
    } catch (err) {
      await ctx.broadcast("routing.uncounted", { tenant_id } satisfies RoutingUncounted);
      throw err;
    }
  };
  let result: T;
  try {
    result = await write();
  } catch (err) {
    // It may be written all the same.
    await raise().catch(() => {});
    throw err;
  }
  await raise();
  return result;
}

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
