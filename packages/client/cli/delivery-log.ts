import { stripVTControlCharacters } from "node:util";
import { isApiError } from "../errors.ts";
import type { Context } from "./command.ts";

/** Reads what an agent logged of a delivery; null if nothing, if the agent is gone, or the service keeps no logs yet. */
export async function readLog(
  { client, signal }: Context,
  { agent_id, delivery_id }: { agent_id: string | null; delivery_id: string },
): Promise<string | null> {
  if (agent_id === null) return null;
  try {
    return (await client.deliveries.log({ agent_id, delivery_id }, { signal })).log;
  } catch (error) {
    if (isApiError(error) && error.status === 404) return null;
    throw error;
  }
}

/** Returns a log to show, below a heading and without its colours; empty without one. */
export function formatLog(log: string | null): string {
  return log === null ? "" : `Log:\n${stripVTControlCharacters(log).trimEnd()}`;
}
