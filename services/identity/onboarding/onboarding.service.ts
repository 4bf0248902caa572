import { type Call, callerId } from "../../../lib/access/caller.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import { findAgent } from "../agents/find-agent.ts";
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
export const onboardingService: ServiceFactory = ({ store }) => {
  const rows = store.collection(OnboardingModel);

  /** Records the first time of each. */
  async function note(tenant_id: string, keys: string[]): Promise<void> {
    const at = new Date(store.now());
    await rows.insertMissing(keys.map((key) => ({ _id: `${tenant_id} ${key}`, tenant_id, key, at })));
  }

  /** Returns when each step, and one caller's dismissal, was recorded. */
  async function readNoted(tenant_id: string, dismissal: string): Promise<Map<string, Date>> {
    const ids = [...STEPS, dismissal].map((key) => `${tenant_id} ${key}`);
    return new Map((await rows.find(tenant_id, { _id: { $in: ids } })).map(({ key, at }) => [key, at]));
  }

  async function guide(ctx: Call, dismiss: boolean) {
    const { caller } = ctx.meta;
    const owner = caller.kind === "user" ? caller.user_id : await findOwner(ctx, caller.agent_id);
    const dismissal = `dismissed ${owner ?? callerId(caller)}`;
    if (dismiss) await note(caller.tenant_id, [dismissal]);
    const noted = await readNoted(caller.tenant_id, dismissal);
    const dismissed_at = noted.get(dismissal)?.toISOString() ?? null;
    if (owner === null) {
      const none = { all_complete: false, completed_steps: 0, total_steps: 0, steps: [] };
      return { dismissed_at, personalized: false, ...none, next_action: actionOf(GENERAL) };
    }
    const found = await findDone(ctx, new Set(STEPS).difference(noted));
    if (found.length) await note(caller.tenant_id, found);
    const done = new Set(STEPS.filter((key) => noted.has(key) || found.includes(key)));
    const next = STEPS.find((key) => !done.has(key));
    return {
      dismissed_at,
      personalized: true,
      all_complete: next === undefined,
      completed_steps: done.size,
      total_steps: STEPS.length,
      steps: STEPS.map((key) => ({ key, status: done.has(key) ? "done" : "todo", source: "derived" })),
      next_action: next === undefined ? null : actionOf(next),
    };
  }

  return {
    name: "onboarding",
    actions: {
      get: action(getOnboarding, (ctx) => guide(ctx, false)),
      dismiss: action(dismissOnboarding, (ctx) => guide(ctx, true)),

      /** Records that a tenant has searched its memories, which no row shows. */
      searched: idempotent<{ tenant_id: string }>(({ params }) => note(params.tenant_id, ["search_memory"])),
    },
  };
};

async function findOwner(ctx: Call, agent_id: string): Promise<string | null> {
  return (await findAgent(ctx, agent_id))?.owner_user_id ?? null;
}

/** Returns which open steps are done by now. Those that cannot be checked now count as not done. */
async function findDone(ctx: Call, open: Set<StepKey>): Promise<StepKey[]> {
  const { tenant_id, kind } = ctx.meta.caller;
  const isDone = async (key: StepKey): Promise<boolean> => {
    if (key === "connect_agent" && kind === "agent") return true;
    if (key === "search_memory") return false;
    return ctx.call<boolean, { tenant_id: string }>(ASKED[key], { tenant_id }).catch((err) => {
      ctx.broker.logger.warn({ err, key }, "an onboarding step cannot be checked right now");
      return false;
    });
  };
  const done = await Promise.all([...open].map(async (key) => ((await isDone(key)) ? [key] : [])));
  return done.flat();
}

function actionOf(key: StepKey) {
  return { key, ...ACTIONS[key] };
}

type StepKey = (typeof STEPS)[number];

/** Guidance for the next step. */
const ACTIONS: Record<StepKey, { ccode: string; title: string; suggested_prompt: string }> = {
  connect_agent: {
    ccode: "Connect",
    title: "Connect an agent",
    suggested_prompt:
      "Connect yourself to Sensorium with the API key I give you, and tell me who you are there.",
  },
  declare_interest: {
    ccode: "Connect",
    title: "Subscribe an agent to events",
    suggested_prompt:
      "Create an interest in the event types that matter for your work, such as com.example.order.*.",
  },
  publish_event: {
    ccode: "Capture",
    title: "Publish an event",
    suggested_prompt: "Publish an event about what you have just done.",
  },
  acknowledge_delivery: {
    ccode: "Capture",
    title: "Receive and acknowledge a delivery",
    suggested_prompt: "Poll your deliveries, handle each one, and acknowledge those that are done.",
  },
  create_memory: {
    ccode: "Capture",
    title: "Remember something",
    suggested_prompt: "Save what you have learnt in this conversation as a memory.",
  },
  search_memory: {
    ccode: "Consult",
    title: "Search memories",
    suggested_prompt: "Before you start, search your memories for what we know about this task.",
  },
  save_handoff: {
    ccode: "Continue",
    title: "Save a handoff",
    suggested_prompt: "Save the state of this work as a handoff, so that I can continue in another client.",
  },
  complete_run: {
    ccode: "Complete",
    title: "Complete a run",
    suggested_prompt: "Plan this as a run with steps, and complete them one after another.",
  },
};
