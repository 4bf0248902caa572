import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

/** The steps of the onboarding, in order (api: Others). */
export const STEPS = [
  "connect_agent",
  "declare_interest",
  "publish_event",
  "acknowledge_delivery",
  "create_memory",
  "search_memory",
  "save_handoff",
  "complete_run",
] as const;

const Guidance = Type.Object(
  {
    dismissed_at: nullable(Timestamp),
    all_complete: Type.Boolean(),
    personalized: Type.Boolean({
      description: "False for an agent that no person owns: the guidance is general then, without steps.",
    }),
    completed_steps: Type.Integer(),
    total_steps: Type.Integer(),
    steps: Type.Array(
      Type.Object({
        key: oneOf(STEPS),
        status: oneOf(["todo", "done"]),
        source: oneOf(["derived"], { description: "From what the organisation really holds." }),
      }),
    ),
    next_action: nullable(
      Type.Object({
        key: oneOf(STEPS),
        ccode: oneOf(["Connect", "Capture", "Consult", "Continue", "Complete"]),
        title: Type.String(),
        suggested_prompt: Type.String({ description: "What to ask an agent for." }),
      }),
    ),
  },
  { title: "OnboardingGuidance" },
);

export const getOnboarding = operation({
  action: "onboarding.get",
  route: "GET /onboarding",
  summary: "What to try next",
  description: "Each step is done once the organisation has done it, and stays done.",
  access: { by: "any" },
  results: { 200: Guidance },
  mcp: true,
});

export const dismissOnboarding = operation({
  action: "onboarding.dismiss",
  route: "POST /onboarding/dismiss",
  summary: "Put the guidance away",
  description: "For the person, or for the person who owns the agent. The first time counts.",
  access: { by: "any" },
  overQuota: true,
  results: { 200: Guidance },
});

export const onboardingOperations = [getOnboarding, dismissOnboarding] as const;
