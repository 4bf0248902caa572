import { type Call, callerId } from "../../../lib/access/caller.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { ACTIONS, type StepKey } from "./guidance.ts";
import { dismissOnboarding, getOnboarding, STEPS } from "./onboarding.contract.ts";
import { OnboardingModel } from "./onboarding.model.ts";

/** Actions that check whether a step was done: each answers `{tenant_id}` with a boolean, by one index look-up. */
const ASKED: Record<Exclude<StepKey, "search_memory">, string> = {
  connect_agent: "keys.any_used",
  declare_interest: "interests.any",
  publish_event: "events.any_published",
  acknowledge_delivery: "deliveries.any_acknowledged",
  create_memory: "memories.any",
  save_handoff: "handoffs.any",
  complete_run: "runs.any_completed",
};

/** The step shown to an agent without an owner: it is connected, or it could not ask. */
const GENERAL: StepKey = "create_memory";

/** Suggests what to try next, based on what the organisation has tried (spec: Onboarding guidance). */
export const onboardingService: ServiceFactory = ({ store, log }) => {
  const rows = store.collection(OnboardingModel);

  /** Records the first time of each. */
  async function note(tenant_id: string, keys: string[]): Promise<void> {
    const at = new Date(store.now());
    await rows.insertMissing(keys.map((key) => ({ _id: `${tenant_id} ${key}`, tenant_id, key, at })));
  }

  /** Returns when each step, and one caller's dismissal, was recorded. */
  async function notedOf(tenant_id: string, dismissal: string): Promise<Map<string, Date>> {
    const ids = [...STEPS, dismissal].map((key) => `${tenant_id} ${key}`);
    return new Map((await rows.find(tenant_id, { _id: { $in: ids } })).map(({ key, at }) => [key, at]));
  }

  /** Returns which open steps are done by now. Those that cannot be checked now count as not done. */
  async function newlyDone(ctx: Call, open: StepKey[]): Promise<StepKey[]> {
    const { caller } = ctx.meta;
    const { tenant_id } = caller;
    const ask = async (key: StepKey): Promise<boolean> => {
      if (key === "connect_agent" && caller.kind === "agent") return true;
      if (key === "search_memory") return false;
      return ctx.call<boolean, { tenant_id: string }>(ASKED[key], { tenant_id }).catch((err) => {
        log.warn({ err, key }, "a step of the onboarding cannot be told now");
        return false;
      });
    };
    const done = await Promise.all(open.map(ask));
    return open.filter((_, i) => done[i]);
  }

  async function guide(ctx: Call, owner: string | null, noted: Map<string, Date>) {
    const dismissed_at = noted.get(dismissalOf(owner ?? idOf(ctx)))?.toISOString() ?? null;
    if (owner === null) {
      const none = { all_complete: false, completed_steps: 0, total_steps: 0, steps: [] };
      return { dismissed_at, personalized: false, ...none, next_action: actionOf(GENERAL) };
    }
    const known = STEPS.filter((key) => noted.has(key));
    const found = await newlyDone(
      ctx,
      STEPS.filter((key) => !noted.has(key)),
    );
    if (found.length) await note(ctx.meta.caller.tenant_id, found);
    const done = new Set<StepKey>([...known, ...found]);
    const next = STEPS.find((key) => !done.has(key));
    return {
      ...{ dismissed_at, personalized: true, all_complete: next === undefined },
      ...{ completed_steps: done.size, total_steps: STEPS.length },
      steps: STEPS.map((key) => ({ key, status: done.has(key) ? "done" : "todo", source: "derived" })),
      next_action: next === undefined ? null : actionOf(next),
    };
  }

  return {
    name: "onboarding",
    actions: {
      get: action(getOnboarding, async (ctx) => {
        const owner = await ownerOf(ctx);
        return guide(ctx, owner, await notedOf(ctx.meta.caller.tenant_id, dismissalOf(owner ?? idOf(ctx))));
      }),

      dismiss: action(dismissOnboarding, async (ctx) => {
        const { tenant_id } = ctx.meta.caller;
        const owner = await ownerOf(ctx);
        const dismissal = dismissalOf(owner ?? idOf(ctx));
        await note(tenant_id, [dismissal]);
        return guide(ctx, owner, await notedOf(tenant_id, dismissal));
      }),

      /** Records that a tenant has searched its memories, which no row shows. */
      searched: idempotent<{ tenant_id: string }>(({ params }) => note(params.tenant_id, ["search_memory"])),
    },
  };
};

/** Returns the person that guidance is for: the caller, or the owner of the calling agent. */
async function ownerOf(ctx: Call): Promise<string | null> {
  const { caller } = ctx.meta;
  if (caller.kind === "user") return caller.user_id;
  const asked = { tenant_id: caller.tenant_id, agent_ids: [caller.agent_id] };
  const [agent] = await ctx.call<{ owner_user_id: string | null }[], unknown>("agents.get_many", asked);
  return agent?.owner_user_id ?? null;
}

function idOf({ meta }: Call): string {
  return callerId(meta.caller);
}

function dismissalOf(id: string): string {
  return `dismissed ${id}`;
}

function actionOf(key: StepKey) {
  return { key, ...ACTIONS[key] };
}
