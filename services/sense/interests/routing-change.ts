import { isDeepStrictEqual } from "node:util";
import type { Context } from "moleculer";

/** A subscription: an agent's interest or a channel's feed. */
export interface Subscription {
  readonly id: string;
  readonly kind: "interest" | "feed";
  /** Set for an interest. */
  readonly agent_id?: string;
  /** Set for a feed. */
  readonly channel_id?: string;
  readonly glob: string;
  /** A CEL predicate; without one the glob alone decides. */
  readonly filter?: string;
  /** 0..9, 9 first; feeds have 0. */
  readonly priority: number;
}

/** One change of a tenant's routing. */
export type RoutingChange =
  | {
      kind: "subscribe";
      subscription: Subscription;
      depth?: "none" | "shallow" | "deep";
      agent_active?: boolean;
    }
  | { kind: "unsubscribe"; id: string }
  | { kind: "join"; channel_id: string; agent_id: string; agent_active: boolean }
  | { kind: "leave"; channel_id: string; agent_id: string }
  | { kind: "agent"; agent_id: string; active: boolean };

/** Payload of the event `routing.changed`, sent to every node. */
export interface RoutingChanged {
  tenant_id: string;
  version: number;
  change: RoutingChange;
}

/**
 * Raises the tenant's routing version; call it after the change is written and before it is answered. Sends the change
 * to every node, which without it must reload everything.
 *
 * @param look reads the current state: of two concurrent changes the first to be written may be sent last, which
 * sending again corrects
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
    // The change is stored under the old version: nodes with a table of that version must reload it.
    await ctx.broadcast("routing.lost", { tenant_id });
    throw err;
  }
}
