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
