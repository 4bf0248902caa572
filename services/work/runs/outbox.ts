import type { Change } from "./draft.ts";
import type { Fact, Outbox, PlacedFact } from "./runs.model.ts";

/** Where the facts of a version are: a key that no store takes for a position. */
export function slotOf(version: number): string {
  return `v${version}`;
}

/** The facts of a change, each with how the run is after it: relayed later, it may be another. */
export function factsAfter({ facts, status }: Change): Fact[] {
  return facts.map((fact) => ({ ...fact, run_status: status }));
}

/** What an outbox holds, in the order it happened. */
export function transitionsIn(outbox: Outbox): { version: number; facts: Fact[] }[] {
  const transitions = Object.entries(outbox).map(([slot, facts]) => ({
    version: Number(slot.slice(1)),
    facts,
  }));
  return transitions.sort((a, b) => a.version - b.version);
}

/** The facts of a transition, each with the version that it came with. */
export function placed({ version, facts }: { version: number; facts: Fact[] }): PlacedFact[] {
  return facts.map((fact) => ({ ...fact, version }));
}
