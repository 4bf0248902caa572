import { isDeepStrictEqual } from "node:util";
import type { Context } from "moleculer";

/** A subscription as matching knows it: an agent's interest or a channel's feed. */
export interface RoutedSubscription {
  readonly id: string;
  readonly kind: "interest" | "feed";
  /** Of an interest. */
  readonly agent_id?: string;
  /** Of a feed. */
  readonly channel_id?: string;
  readonly glob: string;
  /** A CEL predicate; without one the glob alone decides. */
  readonly filter?: string;
  /** 0..9, 9 first; feeds have 0. */
  readonly priority: number;
}

/** One change of who gets what in a tenant. */
export type RoutingChange =
  | {
      kind: "subscribe";
      subscription: RoutedSubscription;
      depth?: "none" | "shallow" | "deep";
      agent_active?: boolean;
    }
  | { kind: "unsubscribe"; id: string }
  | { kind: "join"; channel_id: string; agent_id: string; agent_active: boolean }
  | { kind: "leave"; channel_id: string; agent_id: string }
  | { kind: "agent"; agent_id: string; active: boolean };

/** What the event `routing.changed` carries to every node. */
export interface RoutingChanged {
  tenant_id: string;
  version: number;
  change: RoutingChange;
}

/**
 * Raises the tenant's routing version: to be called after the change is written and before it is answered. Tells
 * every node the change, so that it need not read everything again; without one it must.
 *
 * @param look reads how what was changed stands: of two who change it at once the first to write may be the last to
 * tell, which is mended by telling again
 */
export async function raiseRouting(
  ctx: Context,
  tenant_id: string,
  change?: RoutingChange,
  look?: () => Promise<RoutingChange>,
): Promise<void> {
  const version = await bump(ctx, tenant_id);
  if (!change) return;
  await ctx.broadcast("routing.changed", { tenant_id, version, change });
  const now = await look?.();
  if (now && !isDeepStrictEqual(now, change)) await raiseRouting(ctx, tenant_id, now, look);
}

async function bump(ctx: Context, tenant_id: string): Promise<number> {
  try {
    return await ctx.call("tenants.bump_routing", { tenant_id });
  } catch (err) {
    // What was written is in the store under the old version: whoever has a table of it reads everything again.
    await ctx.broadcast("routing.lost", { tenant_id });
    throw err;
  }
}
