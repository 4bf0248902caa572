import type { STEPS } from "./onboarding.contract.ts";

export type StepKey = (typeof STEPS)[number];

/** Guidance for the next step. */
export const ACTIONS: Record<StepKey, { ccode: string; title: string; suggested_prompt: string }> = {
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
