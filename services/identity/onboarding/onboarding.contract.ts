import { Type } from "typebox";
import { component, nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Timestamp } from "../../../lib/contract/schema.ts";

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

const Guidance = component("OnboardingGuidance", {
  dismissed_at: nullable(Timestamp),
  all_complete: Type.Boolean(),
  personalized: Type.Boolean({
    description: "False for an agent without an owner: the guidance is then general, without steps.",
  }),
  completed_steps: Type.Integer(),
  total_steps: Type.Integer(),
  steps: Type.Array(
    Type.Object({
      key: oneOf(STEPS),
      status: oneOf(["todo", "done"]),
      source: oneOf(["derived"], { description: "Derived from the data of the organisation." }),
    }),
  ),
  next_action: nullable(
    Type.Object({
      key: oneOf(STEPS),
      ccode: oneOf(["Connect", "Capture", "Consult", "Continue", "Complete"]),
      title: Type.String(),
      suggested_prompt: Type.String({ description: "A prompt to give to an agent." }),
    }),
  ),
});

export const getOnboarding = operation({
  action: "onboarding.get",
  route: "GET /onboarding",
  summary: "Read the next steps to try",
  description:
    "Use this to see what to set up next. Returns each step's status and a suggested prompt. A step is done once " +
    "anybody in the organisation has done it, and stays done.",
  access: { by: "any" },
  answer: Guidance,
  mcp: true,
});

export const dismissOnboarding = operation({
  action: "onboarding.dismiss",
  route: "POST /onboarding/dismiss",
  summary: "Dismiss the guidance",
  description:
    "Hides the guidance for the person, or for the owner of the agent. Repeating it changes nothing.",
  access: { by: "any" },
  overQuota: true,
  answer: Guidance,
});
