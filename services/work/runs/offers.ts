import type { Call } from "../../../lib/access/caller.ts";
import { conflict, forbidden, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import type { CallOf } from "../../runtime.ts";
import { presentAttempt } from "./facts.ts";
import type * as contract from "./offers.contract.ts";
import { findPerson, loadSpecialist, requireOwnWork, toActor } from "./participants.ts";
import { presentOffer, stepNamed } from "./run-document.ts";
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
import type { RunStore } from "./run-store.ts";
import type { Offer, Run, StepDef, StepProgress } from "./runs.model.ts";
import { MOST_NOTES, MOST_OFFERS } from "./shapes.contract.ts";

/** Offers a step's result (api: Processes). */
export async function offerHandoff(store: RunStore, ctx: CallOf<typeof contract.offerRunHandoff>) {
  const { run_id, step_key, handoff_id = null, note = null } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  if (handoff_id !== null) {
    await store.get(tenant_id, run_id);
    await requireOwnWork(ctx, { handoff_id });
  }
  const id = newUuid(ctx.meta.idempotency_seed);
  const fact = { actor: toActor(ctx.meta.caller), at: new Date(store.now()), id, handoff_id, note };
  const { run } = await store.change(tenant_id, run_id, (state) =>
    // Created by an earlier try of the same request.
    state.offers.some((each) => each.id === id) ? { ...state, facts: [] } : offer(state, step_key, fact),
  );
  account(ctx, { offer_id: id, step_key });
  return presentOffer(run_id, findOffer(run, id));
}

export async function listOffers(store: RunStore, { params: { run_id }, meta }: Call<{ run_id: string }>) {
  const { offers } = await store.get(meta.caller.tenant_id, run_id);
  return { offers: offers.map((each) => presentOffer(run_id, each)), total: offers.length };
}

export async function acceptOffer(store: RunStore, ctx: CallOf<typeof contract.acceptRunOffer>) {
  const { run_id, offer_id } = ctx.params;
  const { idempotency_seed: seed, caller } = ctx.meta;
  const record_ids = [newUuid(seed), newUuid(seed && `${seed} attempt`)] as const;
  const person = await findPerson(ctx);
  const fact = { actor: toActor(caller), at: new Date(store.now()), offer_id, record_ids, person };
  const transition = (run: Run) => accept(run, fact);
  const once = seed !== undefined && record_ids[0];
  const { run, facts } = await store.change(caller.tenant_id, run_id, transition, once);
  const accepted = findOffer(run, offer_id);
  const started = facts.find(({ kind }) => kind === "step_started");
  const step = run.steps.find(({ step_key }) => step_key === started?.step_key) as StepDef;
  return {
    offer: presentOffer(run_id, accepted),
    completed_step: stepNamed(run, accepted.step_key),
    attempt: started
      ? { ...presentAttempt(step, started), specialist: await loadSpecialist(ctx, step) }
      : null,
    run_completed: run.status === "completed",
  };
}

export async function declineOffer(store: RunStore, ctx: CallOf<typeof contract.declineRunOffer>) {
  const { run_id, offer_id, note = null } = ctx.params;
  const { caller } = ctx.meta;
  const fact = { actor: toActor(caller), at: new Date(store.now()), offer_id, note };
  const { run } = await store.change(caller.tenant_id, run_id, (state) => decline(state, fact));
  return presentOffer(run_id, findOffer(run, offer_id));
}

function findOffer({ offers }: Run, offer_id: string): Offer {
  return offers.find(({ id }) => id === offer_id) as Offer;
}

/** Offers a step's result to the assignees of its successors. */
export function offer(
  run: RunState,
  step_key: string,
  fact: Attribution & { id: string; handoff_id: string | null; note: string | null },
): Change {
  const { draft, step, progress } = open(run, step_key, fact);
  assertCompletable(draft, step, progress);
  const { id, handoff_id, note, actor, at } = fact;
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

interface Accept extends Attribution {
  offer_id: string;
  /** Of the completion, and of the attempt on the successor. */
  record_ids: readonly [string, string];
  /** The person who accepts, or whose agent does. */
  person: string | null;
}

/** Completes the offering step, and starts the accepter's successor if possible (api: Processes). */
export function accept(run: RunState, fact: Accept): Change {
  const offer = openOffer(run, fact.offer_id);
  requireOther(offer, fact);
  const { draft, index, step, progress } = open(run, offer.step_key, fact);
  const next = successorFor(draft, step.step_key, fact.person);
  assertCompletable(draft, step, progress);
  decide(draft, offer, "accepted");
  const [record_id, attempt_id] = fact.record_ids;
  draft.set(index, { attested: step.completion_criteria.map(({ key }) => key) });
  const evidence = { record_id, notes: offer.note, handoff_offer_id: offer.id, snapshots: [] };
  draft.finish(index, { ...offer.offered_by, ...evidence });
  if (next === null || !canBegin(draft, next)) return draft;
  draft.beginWork(next);
  draft.record("step_started", (run.steps[next] as StepDef).step_key, {
    record_id: attempt_id,
    notes: offer.note,
    inbound_handoff_id: offer.handoff_id,
    bundle_id: null,
  });
  return draft;
}

/**
 * Refuses people who accept their own offer: a handoff needs a second pair of eyes. An agent may, as one agent can hold
 * several roles. @throws Fault forbidden
 */
function requireOther({ id, step_key, offered_by }: Offer, { actor }: Accept): void {
  if (actor.actor_kind !== "user" || actor.actor_id !== offered_by.actor_id) return;
  throw forbidden(
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
  fact: Attribution & { offer_id: string; note: string | null },
): Change {
  const offer = openOffer(run, fact.offer_id);
  const { draft } = open(run, offer.step_key, fact);
  decide(draft, offer, "declined", fact.note);
  return draft;
}

function openOffer({ offers }: RunState, offer_id: string): Offer {
  const offer = offers.find(({ id }) => id === offer_id);
  if (!offer) throw notFound("handoff_offer", offer_id);
  if (offer.status === "open") return offer;
  throw conflict(`The offer is already ${offer.status}. Only open offers can be decided.`, {
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
  const candidates = left.length ? left : all;
  const own = candidates.find(([, { assigned_user_id: to }]) => to !== null && to === person);
  const free = own ?? candidates.find(([, { assigned_user_id: to }]) => to === null);
  if (free) return free[0];
  throw forbidden("All next steps are assigned to other people. One of them must accept the offer.", {
    step_key,
  });
}
