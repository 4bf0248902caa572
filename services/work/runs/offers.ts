import type { Call } from "../../../lib/access/caller.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import type { CallOf } from "../../runtime.ts";
import { presentAttempt } from "./facts.ts";
import { accept, decline, offer } from "./offer-transitions.ts";
import type * as contract from "./offers.contract.ts";
import { findPerson, requireOwnWork, toActor } from "./participants.ts";
import { presentOffer, stepNamed } from "./present.ts";
import type { RunStore } from "./run-store.ts";
import type { Offer, Run, StepDef } from "./runs.model.ts";
import { loadSpecialist } from "./specialist.ts";

/** Offers a step's result (api: Processes). */
export async function offerHandoff(store: RunStore, ctx: CallOf<typeof contract.offerHandoff>) {
  const { run_id, step_key, handoff_id = null, note = null } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  if (handoff_id !== null) {
    await store.get(tenant_id, run_id);
    await requireOwnWork(ctx, { handoff_id });
  }
  const id = newUuid(ctx.meta.idempotency_seed);
  const given = { actor: toActor(ctx.meta.caller), at: new Date(store.now()), id, handoff_id, note };
  const { run } = await store.change(tenant_id, run_id, (state) =>
    // Created by an earlier try of the same request.
    state.offers.some((each) => each.id === id) ? { ...state, facts: [] } : offer(state, step_key, given),
  );
  account(ctx, { offer_id: id, step_key });
  return presentOffer(run_id, findOffer(run, id));
}

export async function listOffers(store: RunStore, { params: { run_id }, meta }: Call<{ run_id: string }>) {
  const { offers } = await store.get(meta.caller.tenant_id, run_id);
  return { offers: offers.map((each) => presentOffer(run_id, each)), total: offers.length };
}

export async function acceptOffer(store: RunStore, ctx: CallOf<typeof contract.acceptOffer>) {
  const { run_id, offer_id } = ctx.params;
  const { idempotency_seed: seed, caller } = ctx.meta;
  const record_ids = [newUuid(seed), newUuid(seed && `${seed} attempt`)] as const;
  const person = await findPerson(ctx);
  const given = { actor: toActor(caller), at: new Date(store.now()), offer_id, record_ids, person };
  const transition = (run: Run) => accept(run, given);
  const once = seed !== undefined && record_ids[0];
  const { run, facts } = await store.change(caller.tenant_id, run_id, transition, { once });
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

export async function declineOffer(store: RunStore, ctx: CallOf<typeof contract.declineOffer>) {
  const { run_id, offer_id, note = null } = ctx.params;
  const { caller } = ctx.meta;
  const given = { actor: toActor(caller), at: new Date(store.now()), offer_id, note };
  const { run } = await store.change(caller.tenant_id, run_id, (state) => decline(state, given));
  return presentOffer(run_id, findOffer(run, offer_id));
}

function findOffer({ offers }: Run, offer_id: string): Offer {
  return offers.find(({ id }) => id === offer_id) as Offer;
}
