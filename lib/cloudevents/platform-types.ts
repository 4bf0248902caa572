/** Events that the service itself publishes, with their meaning (api: Processes). They carry only ids and states. */
export const PLATFORM_EVENTS = {
  "memory.cited": "An agent reported that it used a memory: once per agent, memory and day.",
  "service.approval.answered":
    "People, or the default at the deadline, answered an approval. Delivered to the agent that asked.",
  "service.approval.canceled":
    "The asker or an admin canceled an approval. Delivered to the agent that asked.",
  "service.approval.escalated": "Nobody had answered an approval in time: further people may.",
  "service.approval.expired":
    "An approval's deadline passed without an answer. Delivered to the agent that asked.",
  "service.approval.requested": "People were asked to approve or to decide.",
  "service.delivery.dead_lettered":
    "A delivery's retry budget is spent. Not published for deliveries of the service's own events.",
  "service.document.failed": "A document could not be parsed; its `error` gives the reason.",
  "service.document.stored": "A document was parsed and can be found by search.",
  "service.document.superseded": "A newer document of the same name superseded it.",
  "service.memory.created": "A memory was created.",
  "service.memory.forgotten": "A memory was forgotten.",
  "service.memory.merged": "A memory was merged into another.",
  "service.memory.promoted": "A memory's scope was widened.",
  "service.memory.restored": "A forgotten memory was restored.",
  "service.memory.superseded": "A memory was superseded by another.",
  "service.memory.updated": "A memory was changed.",
  "service.run.closed": "A run was closed, with its outcome.",
  "service.run.completed": "The last step of a run was completed or skipped.",
  "service.run.created": "A run was created.",
  "service.run.criterion_attested": "One criterion of a step was attested.",
  "service.run.handoff_accepted": "A step's offer was accepted.",
  "service.run.handoff_declined": "A step's offer was declined.",
  "service.run.handoff_offered": "A step's result was offered to the assignee of a next step.",
  "service.run.reactivated": "A completed run is active again: one of its steps was reopened.",
  "service.run.step_blocked": "A step that was ready must wait again.",
  "service.run.step_completed": "A step was completed.",
  "service.run.step_deadline_passed": "A step was not done by its deadline.",
  "service.run.step_ready": "All dependencies of a step are done: it can be started.",
  "service.run.step_reopened": "A completed or skipped step was reopened.",
  "service.run.step_assigned": "A step was assigned to another person, or unassigned.",
  "service.run.step_skipped": "A step was skipped, with a reason.",
  "service.run.step_stale": "A step in progress is inactive or overdue.",
  "service.run.step_waiting": "A step is ready and waits for an event, which will complete it.",
  "service.run.step_started": "An attempt at a step was started.",
} as const;

export const PLATFORM_SOURCE = "sensorium";

export type PlatformEventType = keyof typeof PLATFORM_EVENTS;

/**
 * Returns the literal prefix that a glob needs to match an event of the service itself, `service.*` or `memory.cited`
 * (api.md Processes); "" for all other types.
 */
export function reservedPrefix(type: string): "service." | "memory." | "" {
  if (type.startsWith("service.")) return "service.";
  return type === "memory.cited" ? "memory." : "";
}

/** Whether only the service itself publishes this type. */
export function isPlatformType(type: string): boolean {
  return reservedPrefix(type) !== "";
}
