import type { Change } from "./draft.ts";
import type { Fact, Outbox, PlacedFact } from "./runs.model.ts";

/** Returns the outbox key of a version's facts; no store takes it for an array index. */
export function slotOf(version: number): string {
  return `v${version}`;
}

/** Returns the facts of a change with the run's status after it, which may differ when they are relayed. */
export function factsAfter({ facts, status }: Change): Fact[] {
  return facts.map((fact) => ({ ...fact, run_status: status }));
}

/** Returns an outbox's content in order. */
export function transitionsIn(outbox: Outbox): { version: number; facts: Fact[] }[] {
  const transitions = Object.entries(outbox).map(([slot, facts]) => ({
    version: Number(slot.slice(1)),
    facts,
  }));
  return transitions.sort((a, b) => a.version - b.version);
}

/** Adds the version to each fact of a transition. */
export function placed({ version, facts }: { version: number; facts: Fact[] }): PlacedFact[] {
  return facts.map((fact) => ({ ...fact, version }));
}
