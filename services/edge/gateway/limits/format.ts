import type { ServiceBroker } from "moleculer";
import type { Operation } from "../../../../lib/contract/contract.ts";

/**
 * Refuses what nodes of an earlier version would break, while there are some.
 *
 * @param params of the action, not validated yet
 * @throws Fault service_unavailable
 */
export async function requireFormats(
  broker: ServiceBroker,
  { needs = {}, method, url }: Operation,
  params: unknown,
): Promise<void> {
  for (const [path, format] of Object.entries(needs)) {
    if (path !== "*" && !isGiven(params, path.split("."))) continue;
    const what = path === "*" ? `${method} ${url}` : path;
    await broker.call("nodes.require_format", { format, what }, { nodeID: broker.nodeID });
  }
}

/** Whether there is a value at a path, which leads through all items of lists. */
function isGiven(value: unknown, path: readonly string[]): boolean {
  if (value === null || value === undefined) return false;
  if (Array.isArray(value)) return value.some((each) => isGiven(each, path));
  const [name, ...rest] = path;
  if (name === undefined) return true;
  return typeof value === "object" && isGiven((value as Record<string, unknown>)[name], rest);
}
