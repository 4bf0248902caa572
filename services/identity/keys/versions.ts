import type { Call } from "../../../lib/access/caller.ts";

/** Versions of the facts that a credential rests on, each raised when its fact ends, never lowered. */
export interface Versions {
  /** The tenant, raised by each suspension. */
  tenant?: number | undefined;
  /** The agent, raised by each deactivation. */
  agent?: number | undefined;
  /** The person: of their password, or of their account alone. */
  user?: number | undefined;
  /** The right by which a person approved. */
  right?: number | undefined;
}

/**
 * Whether what was issued in some versions stands: none has risen since, even if the fact has returned. Every credential
 * that outlives its request is compared here. A version that it was issued without does not count.
 */
export function stands(issued: Versions, now: Versions): boolean {
  const facts = Object.keys(issued) as (keyof Versions)[];
  return facts.every((fact) => issued[fact] === undefined || issued[fact] === now[fact]);
}

/** Returns the states that an action has of some ids, by id. */
export async function findAll<T extends { id: string }>(
  from: Pick<Call, "call">,
  action: string,
  param: string,
  ids: readonly string[],
): Promise<Map<string, T>> {
  if (ids.length === 0) return new Map();
  const states = await from.call<T[], object>(action, { [param]: [...new Set(ids)] });
  return new Map(states.map((each) => [each.id, each]));
}
