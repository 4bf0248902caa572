import type { Call } from "../../../lib/access/caller.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import type { Offer } from "./runs.model.ts";

/** The handoff or bundle that a caller names. */
interface Named {
  handoff_id: string | null;
  bundle_id?: string | null;
}

/**
 * Refuses a handoff or a bundle that is not the calling agent's: people have none. An accepter may name a handoff that
 * was offered in the run.
 *
 * @throws Fault validation_error
 */
export async function requireOwnWork(
  ctx: Call,
  { handoff_id, bundle_id = null }: Named,
  offers: readonly Offer[] = [],
): Promise<void> {
  const asAgent = async (action: string, params: object) =>
    ctx.meta.caller.kind === "agent" && (await ctx.call<boolean, object>(action, params));
  const isOffered = offers.some((offer) => offer.handoff_id === handoff_id);
  if (handoff_id !== null && !isOffered && !(await asAgent("handoffs.is_own", { id: handoff_id })))
    throw noSuch("handoff", handoff_id);
  if (bundle_id !== null && !(await asAgent("bundles.hold", { id: bundle_id, by: "attempt" })))
    throw noSuch("bundle", bundle_id);
}

function noSuch(kind: string, value: string) {
  const field = `${kind}_id`;
  return invalidValue(field, `${field}: the caller has no ${kind} ${value}.`, { value });
}
