/** The events that the service itself publishes, and what each tells (api: Processes). They carry ids and states only. */
export const PLATFORM_EVENTS = {
  "memory.cited": "An agent said that it used a memory: once per agent, memory and day.",
  "service.delivery.dead_lettered":
    "A delivery's budget is spent. Those of the service's own events tell nothing.",
  "service.document.failed": "A document could not be read; its `error` says why.",
  "service.document.stored": "A document was read, and is found.",
  "service.document.superseded": "A newer document of the same name took its place.",
  "service.memory.created": "A memory was made.",
  "service.memory.forgotten": "A memory was taken off every path.",
  "service.memory.merged": "A memory was merged into another.",
  "service.memory.promoted": "A memory's scope was widened.",
  "service.memory.restored": "A forgotten memory is back.",
  "service.memory.superseded": "A memory was replaced by another.",
  "service.memory.updated": "A memory was changed.",
  "service.run.closed": "A run was closed, with its outcome.",
  "service.run.completed": "The last step of a run was completed or skipped.",
  "service.run.created": "A run was begun.",
  "service.run.criterion_attested": "One criterion of a step was attested.",
  "service.run.handoff_accepted": "Somebody took over what a step offered.",
  "service.run.handoff_declined": "Somebody declined what a step offered.",
  "service.run.handoff_offered": "A step's result was offered to whoever does a next one.",
  "service.run.reactivated": "A completed run is active again: one of its steps was reopened.",
  "service.run.step_blocked": "A step that was ready has to wait again.",
  "service.run.step_completed": "A step was completed.",
  "service.run.step_ready": "Nothing that a step waits for is left: it can be started.",
  "service.run.step_reopened": "A completed or skipped step was reopened.",
  "service.run.step_assigned": "A step was given to another person, or to nobody in particular.",
  "service.run.step_skipped": "A step was skipped, with a reason.",
  "service.run.step_stale": "A step in progress shows no sign of life, or is past its time.",
  "service.run.step_started": "An attempt at a step was begun.",
} as const;

export type PlatformEventType = keyof typeof PLATFORM_EVENTS;

/**
 * What a glob must literally begin with to match an event that the service itself publishes: `service.*` and
 * `memory.cited` (api.md Processes). "" for all other types, which are everybody's.
 */
export function reservedPrefix(type: string): "service." | "memory." | "" {
  if (type.startsWith("service.")) return "service.";
  return type === "memory.cited" ? "memory." : "";
}

/** Whether only the service itself publishes this type. */
export function isPlatformType(type: string): boolean {
  return reservedPrefix(type) !== "";
}
