import type { Call } from "../../../lib/access/caller.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../mixins/audited.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import { action } from "../../runtime.ts";
import { keepContents, snapshotWrites } from "./evidence.ts";
import { openAttempts, presentAttempt } from "./facts.ts";
import { requireOwnWork } from "./own-work.ts";
import { actorOf, requirePeople } from "./people.ts";
import { positionStep, standing } from "./position.ts";
import { stepNamed } from "./present.ts";
import type { Changed, RunStore } from "./run-store.ts";
import type { FactKind, PlacedFact, Run, RunArtifactDoc, StepDef } from "./runs.model.ts";
import { loadSpecialist } from "./specialist.ts";
import { assignStep, completeStep, reopenStep, skipStep, startStep } from "./steps.contract.ts";
import { assign, complete, reopen, skip, start } from "./transitions.ts";

interface Parts {
  store: RunStore;
  artifacts: TenantCollection<RunArtifactDoc>;
  blobs: Blobs;
  now(): number;
}

/** Actions of people and agents on steps (spec: Process step and run). */
export function stepActions({ store, artifacts, blobs, now }: Parts) {
  /** Returns actor, time and the id of the new record, which is the same for a repeated Idempotency-Key. */
  function doing(ctx: Call<{ step_key: string }>) {
    const { idempotency_seed: seed, caller } = ctx.meta;
    account(ctx, { step_key: ctx.params.step_key });
    const record_id = newUuid(seed);
    return {
      given: { actor: actorOf(caller), at: new Date(now()), record_id },
      once: seed !== undefined && record_id,
    };
  }

  return {
    start_step: action(startStep, async (ctx) => {
      const { run_id, step_key, handoff_id = null, bundle_id = null, notes = null } = ctx.params;
      const { tenant_id } = ctx.meta.caller;
      if (handoff_id !== null || bundle_id !== null) {
        const { offers } = await store.get(tenant_id, run_id);
        await requireOwnWork(ctx as Call, { handoff_id, bundle_id }, offers);
      }
      const { given, once } = doing(ctx);
      const attempted = { ...given, handoff_id, bundle_id, notes };
      const { before, run, facts } = await store.change(
        tenant_id,
        run_id,
        (state) => start(state, step_key, attempted),
        { once },
      );
      const step = run.steps.find((each) => each.step_key === step_key) as StepDef;
      const attempt = presentAttempt(step, facts[0] as PlacedFact);
      const [others, specialist] = await Promise.all([
        othersOn(store, before, step_key),
        loadSpecialist(ctx, step),
      ]);
      return { ...attempt, warning: warningOf(others), specialist };
    }),

    complete_step: action(completeStep, async (ctx) => {
      const {
        run_id,
        step_key,
        criterion_key = null,
        what_makes_this_done = null,
        artifact_contents = [],
      } = ctx.params;
      const { tenant_id } = ctx.meta.caller;
      if (artifact_contents.length) await store.get(tenant_id, run_id);
      const owner = { _id: run_id, tenant_id };
      const snapshots = await keepContents({ artifacts, blobs }, owner, artifact_contents);
      const { given, once } = doing(ctx);
      const evidence = { ...given, criterion_key, notes: what_makes_this_done, snapshots };
      const changed = await store.change(tenant_id, run_id, (state) => complete(state, step_key, evidence), {
        once,
      });
      // Relaying writes these too; written here so that they are visible at once.
      if (snapshots.length) await artifacts.bulk(snapshotWrites(owner, changed.facts));
      const completed_step = stepNamed(changed.run, step_key);
      return {
        run_id,
        completed_step_key: completed_step.status === "completed" ? step_key : null,
        completed_step,
        newly_ready_steps: named(changed, "step_ready", now()),
        run_completed: changed.run.status === "completed",
      };
    }),

    skip_step: action(skipStep, async (ctx) => {
      const { run_id, step_key, reason } = ctx.params;
      const { given, once } = doing(ctx);
      const transition = (state: Run) => skip(state, step_key, { ...given, reason });
      const changed = await store.change(ctx.meta.caller.tenant_id, run_id, transition, { once });
      const { run } = changed;
      return {
        ...{ run_id, run_goal: run.goal, reason, record_id: given.record_id },
        skipped_step: stepNamed(run, step_key),
        newly_ready_steps: named(changed, "step_ready", now()),
        run_completed: run.status === "completed",
      };
    }),

    reopen_step: action(reopenStep, async (ctx) => {
      const { run_id, step_key, reason } = ctx.params;
      const { given, once } = doing(ctx);
      const transition = (state: Run) => reopen(state, step_key, { ...given, reason });
      const changed = await store.change(ctx.meta.caller.tenant_id, run_id, transition, { once });
      const { run, facts } = changed;
      const demoted = new Set(keysOf(facts, "step_blocked"));
      // Reports successors that are in progress.
      const at = standing(run, await factsUntil(store, run), now());
      const further = run.steps.flatMap((step, index) => {
        const waits = step.depends_on.includes(step_key) && run.progress[index]?.status !== "blocked";
        return waits && !demoted.has(step.step_key) ? [positionStep(at, index)] : [];
      });
      return {
        ...{ run_id, run_goal: run.goal, reason, record_id: given.record_id },
        reopened_step: stepNamed(run, step_key),
        demoted_successors: named(changed, "step_blocked", now()),
        notify_only_successors: further,
        run_reactivated: facts.some(({ kind }) => kind === "reactivated"),
      };
    }),

    assign_step: action(assignStep, async (ctx) => {
      const { run_id, step_key, assigned_user_id } = ctx.params;
      const { tenant_id } = ctx.meta.caller;
      await store.get(tenant_id, run_id);
      if (assigned_user_id !== null)
        await requirePeople(ctx, [{ field: "assigned_user_id", user_id: assigned_user_id }]);
      const { given, once } = doing(ctx);
      const transition = (state: Run) => assign(state, step_key, { ...given, assigned_user_id });
      const { run } = await store.change(tenant_id, run_id, transition, { once });
      return { run_id, run_goal: run.goal, assigned_step: stepNamed(run, step_key) };
    }),
  };
}

/** Returns the attempts that were open on a step before another began. */
async function othersOn(store: RunStore, before: Run, step_key: string): Promise<PlacedFact[]> {
  const index = before.steps.findIndex((step) => step.step_key === step_key);
  if (before.progress[index]?.status !== "in_progress") return [];
  return openAttempts(await factsUntil(store, before)).get(step_key) ?? [];
}

/** Returns the facts of a run up to this version. */
async function factsUntil(store: RunStore, { tenant_id, _id, version }: Run): Promise<PlacedFact[]> {
  const facts = await store.factsOf(await store.get(tenant_id, _id));
  return facts.filter((fact) => fact.version <= version);
}

function warningOf(others: PlacedFact[]): string | null {
  if (others.length === 0) return null;
  const who = [...new Set(others.map(({ actor }) => actor?.actor_id))].join(", ");
  return `${others.length === 1 ? "Another attempt is" : `${others.length} other attempts are`} open: ${who}.`;
}

function keysOf(facts: readonly PlacedFact[], kind: FactKind): (string | null)[] {
  return facts.filter((fact) => fact.kind === kind).map(({ step_key }) => step_key);
}

/** Returns the steps that facts of a kind name, as on the position surface. */
function named({ run, facts }: Changed, kind: FactKind, now: number) {
  const keys = new Set(keysOf(facts, kind));
  const at = standing(run, facts, now);
  return run.steps.flatMap(({ step_key }, index) => (keys.has(step_key) ? [positionStep(at, index)] : []));
}
