import { Fault, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import {
  type Attribution,
  assertCompletable,
  type Change,
  type Draft,
  doneKeys,
  isDone,
  open,
  type RunState,
  successors,
  waitingOn,
} from "./run-state.ts";
import type { Offer, StepDef, StepProgress } from "./runs.model.ts";
import { MOST_NOTES, MOST_OFFERS } from "./shapes.contract.ts";

/** Offers a step's result to the assignees of its successors. */
export function offer(
  run: RunState,
  step_key: string,
  given: Attribution & { id: string; handoff_id: string | null; note: string | null },
): Change {
  const { draft, step, progress } = open(run, step_key, given);
  assertCompletable(draft, step, progress);
  const { id, handoff_id, note, actor, at } = given;
  assertRoom(run.offers, note);
  const made: Offer = {
    ...{ id, step_key, handoff_id, note, status: "open", offered_by: actor, decided_by: null },
    ...{ created_at: at, decided_at: null },
  };
  draft.offers = [...draft.offers, made];
  draft.record("handoff_offered", step_key, { handoff_offer_id: id });
  return draft;
}

/** @throws Fault business_rule_violation */
function assertRoom(offers: readonly Offer[], note: string | null): void {
  const notes = [note, ...offers.map((each) => each.note)];
  // Measured as JSON in an answer, where a control character takes six bytes.
  const bytes = notes.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each ?? "")) - 2, 0);
  if (offers.length < MOST_OFFERS && bytes <= MOST_NOTES) return;
  const most = `A run can have at most ${MOST_OFFERS} offers, with ${MOST_NOTES} bytes of notes in total`;
  throw ruleBroken(
    "run_limit",
    `${most}; with this offer it would have ${notes.length}, with ${bytes}. Shorten the note, or continue in a new run.`,
  );
}

export interface Accept extends Attribution {
  offer_id: string;
  /** Of the completion, and of the attempt on the successor. */
  record_ids: readonly [string, string];
  /** The person who accepts, or whose agent does. */
  person: string | null;
}

/** Completes the offering step, and starts the accepter's successor if possible (api: Processes). */
export function accept(run: RunState, given: Accept): Change {
  const found = openOffer(run, given.offer_id);
  requireOther(found, given);
  const { draft, index, step, progress } = open(run, found.step_key, given);
  const next = successorFor(draft, step.step_key, given.person);
  assertCompletable(draft, step, progress);
  decide(draft, found, "accepted");
  const [record_id, attempt_id] = given.record_ids;
  draft.set(index, { attested: step.completion_criteria.map(({ key }) => key) });
  const evidence = { record_id, notes: found.note, handoff_offer_id: found.id, snapshots: [] };
  draft.finish(index, { ...found.offered_by, ...evidence });
  if (next === null || !canBegin(draft, next)) return draft;
  draft.beginWork(next);
  draft.record("step_started", (run.steps[next] as StepDef).step_key, {
    record_id: attempt_id,
    notes: found.note,
    inbound_handoff_id: found.handoff_id,
    bundle_id: null,
  });
  return draft;
}

/**
 * Refuses people who accept their own offer: a handoff needs a second pair of eyes. An agent may, as one agent can hold
 * several roles.
 *
 * @throws Fault forbidden
 */
function requireOther({ id, step_key, offered_by }: Offer, { actor }: Accept): void {
  if (actor.actor_kind !== "user" || actor.actor_id !== offered_by.actor_id) return;
  throw new Fault(
    "forbidden",
    "You made this offer, so you cannot accept it. Another person or an agent must accept it; decline it to withdraw it.",
    { step_key, offer_id: id },
  );
}

/** Whether an attempt on a step can begin now. */
function canBegin({ run: { steps }, progress }: Draft, index: number): boolean {
  const waits = waitingOn(steps[index] as StepDef, doneKeys(steps, progress)).length > 0;
  return !waits && !isDone(progress[index] as StepProgress);
}

export function decline(
  run: RunState,
  given: Attribution & { offer_id: string; note: string | null },
): Change {
  const found = openOffer(run, given.offer_id);
  const { draft } = open(run, found.step_key, given);
  decide(draft, found, "declined", given.note);
  return draft;
}

function openOffer({ offers }: RunState, offer_id: string): Offer {
  const found = offers.find(({ id }) => id === offer_id);
  if (!found) throw notFound("handoff_offer", offer_id);
  if (found.status === "open") return found;
  throw new Fault("conflict", `The offer is already ${found.status}. Only open offers can be decided.`, {
    existing_resource_id: offer_id,
  });
}

function decide(
  draft: Draft,
  { id, step_key }: Offer,
  status: "accepted" | "declined",
  notes: string | null = null,
): void {
  const { actor, at } = draft.attribution;
  draft.offers = draft.offers.map((each) =>
    each.id === id ? { ...each, status, decided_by: actor, decided_at: at } : each,
  );
  draft.record(`handoff_${status}`, step_key, { handoff_offer_id: id, notes });
}

/** Returns the index of the successor that a person may take over; null without one. @throws Fault forbidden */
function successorFor({ run, progress }: Draft, step_key: string, person: string | null): number | null {
  const all = successors(run, step_key);
  if (all.length === 0) return null;
  const left = all.filter(([at]) => !isDone(progress[at] as StepProgress));
  const those = left.length ? left : all;
  const own = those.find(([, { assigned_user_id: to }]) => to !== null && to === person);
  const free = own ?? those.find(([, { assigned_user_id: to }]) => to === null);
  if (free) return free[0];
  throw new Fault(
    "forbidden",
    "All next steps are assigned to other people. One of them must accept the offer.",
    { step_key },
  );
}
