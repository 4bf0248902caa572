import { type Operation, resourceOf } from "../../../../lib/contract/contract.ts";

/** Verbs that read or change many rows: without another noun, the resource is in the plural. */
const OF_MANY = new Set(["list", "search", "browse", "poll", "ack", "nack", "extend", "stream", "drain"]);

/**
 * Returns the name that code generators give to an operation: that of its contract, else the action's verb, its
 * resource and the rest: `channels.add_member` → `addChannelMember`, `memories.search` → `searchMemories`.
 */
export function operationIdOf({ action, operationId }: Pick<Operation, "action" | "operationId">): string {
  if (operationId) return operationId;
  const [domain, name] = action.split(".") as [string, string];
  const [verb = "", ...rest] = name.split("_");
  const isOfMany = OF_MANY.has(verb) && (rest.length === 0 || rest[0] === "of");
  const resource = isOfMany ? domain : resourceOf(action);
  return verb + [...resource.split("_"), ...rest].map(capitalised).join("");
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
