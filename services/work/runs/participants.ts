import { Errors } from "moleculer";
import { type Call, type Caller, callerId, type RequestContext } from "../../../lib/access/caller.ts";
import { unknownReference } from "../../../lib/contract/faults.ts";
import { findAgent } from "../../identity/agents/find-agent.ts";
import type { Actor, Offer, StepDef } from "./runs.model.ts";

export function toActor(caller: Caller): Actor {
  return { actor_kind: caller.kind, actor_id: callerId(caller) };
}

/** Returns the calling person, or the owner of the calling agent; null without one. */
export async function findPerson(ctx: RequestContext): Promise<string | null> {
  const { caller } = ctx.meta;
  return caller.kind === "user"
    ? caller.user_id
    : ((await findAgent(ctx, caller.agent_id))?.owner_user_id ?? null);
}

/** @throws Fault validation_error if one of them is no person of the tenant */
export async function requirePeople(
  ctx: RequestContext,
  people: readonly { field: string; user_id: string }[],
): Promise<void> {
  const { tenant_id } = ctx.meta.caller;
  for (const [user_id, named] of Map.groupBy(people, (each) => each.user_id)) {
    if (await ctx.call<boolean, object>("users.exists", { tenant_id, user_id })) continue;
    throw unknownReference(named[0]?.field as string, "user", user_id);
  }
}

/**
 * Refuses a handoff or a bundle that is not the calling agent's: people have none. An accepter may name a handoff that
 * was offered in the run. @throws Fault validation_error
 */
export async function requireOwnWork(
  ctx: RequestContext,
  { handoff_id, bundle_id = null }: { handoff_id: string | null; bundle_id?: string | null },
  offers: readonly Offer[] = [],
): Promise<void> {
  const asAgent = async (action: string, params: object) =>
    ctx.meta.caller.kind === "agent" && (await ctx.call<boolean, object>(action, params));
  const isOffered = offers.some((offer) => offer.handoff_id === handoff_id);
  if (handoff_id !== null && !isOffered && !(await asAgent("handoffs.is_own", { id: handoff_id })))
    throw unknownReference("handoff_id", "handoff", handoff_id);
  if (bundle_id !== null && !(await asAgent("bundles.hold", { id: bundle_id, by: "attempt" })))
    throw unknownReference("bundle_id", "bundle", bundle_id);
}

/**
 * Loads a step's specialist for an attempt; null if it has none. Reports one that cannot be loaded, without stopping
 * the attempt (spec: Step attempt).
 */
export async function loadSpecialist(ctx: Call, { specialist_name: name }: StepDef): Promise<object | null> {
  if (name === null) return null;
  try {
    const loaded = await ctx.call<{ error?: { code: string } }, object>("specialists.load", { name });
    return loaded.error ? explained(loaded.error.code, name) : loaded;
  } catch (err) {
    if (!(err instanceof Errors.MoleculerError)) throw err;
    return explained("unavailable", name);
  }
}

function explained(code: string, name: string) {
  const message =
    code === "not_found"
      ? `There is no specialist "${name}".`
      : `The specialist "${name}" cannot be loaded right now.`;
  return { code, message };
}
