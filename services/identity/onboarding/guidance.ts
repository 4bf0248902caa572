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
    title: "Say which events an agent wants",
    suggested_prompt:
      "Declare an interest in the event types that matter for your work, such as com.example.order.*.",
  },
  publish_event: {
    ccode: "Capture",
    title: "Publish an event",
    suggested_prompt: "Publish an event that says what you have just done.",
  },
  acknowledge_delivery: {
    ccode: "Capture",
    title: "Take a delivery and acknowledge it",
    suggested_prompt: "Poll your deliveries, deal with each, and acknowledge those that are done.",
  },
  create_memory: {
    ccode: "Capture",
    title: "Remember something",
    suggested_prompt: "Keep what you have learnt in this conversation as a memory.",
  },
  search_memory: {
    ccode: "Consult",
    title: "Search what is remembered",
    suggested_prompt: "Search your memories for what we know of this task before you begin.",
  },
  save_handoff: {
    ccode: "Continue",
    title: "Save a handoff",
    suggested_prompt: "Save a handoff of where this work stands, so that I can go on in another client.",
  },
  complete_run: {
    ccode: "Complete",
    title: "Complete a run",
    suggested_prompt: "Plan this as a run of steps, and complete them one after another.",
  },
};
