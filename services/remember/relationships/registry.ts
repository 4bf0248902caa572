/** A kind of relationship that callers may set. */
export interface RelationshipType {
  name: string;
  /** What it says of the source, with regard to the target. */
  description: string;
  /** What says the same from the target's side; its own name where both sides are alike; null where nothing does. */
  inverse: string | null;
}

/** Every type that callers may set: the one place where types are added (spec: Memories, relationship types). */
export const RELATIONSHIP_TYPES: readonly RelationshipType[] = [
  type("related_to", "Has to do with it; where no other type says more.", "related_to"),
  type("supports", "Is evidence for it."),
  type("contradicts", "Cannot be true together with it.", "contradicts"),
  type("caused_by", "Came about because of it.", "causes"),
  type("causes", "Brought it about.", "caused_by"),
  type("derived_from", "Was concluded or written from it: its trust is no higher."),
  type("part_of", "Is a part of it."),
  type("depends_on", "Holds only as long as it does."),
  type("precedes", "Comes before it in time or order.", "follows"),
  type("follows", "Comes after it in time or order.", "precedes"),
  type("supersedes", "Stands in its place; retires nothing by itself.", "superseded_by"),
  type("superseded_by", "Has it in its place; retires nothing by itself.", "supersedes"),
  type("corrects", "Puts right what it says.", "corrected_by"),
  type("corrected_by", "Is put right by it.", "corrects"),
  type("references", "Mentions it."),
  type("generalizes", "Says the same of more.", "specializes"),
  type("specializes", "Says the same of less.", "generalizes"),
];

/** What the service itself records of where things come from; callers cannot set these. */
export const PROVENANCE_TYPES = ["CITES", "DERIVED_FROM", "HAS_CHUNK", "MENTIONS", "SUPERSEDES"] as const;
export type ProvenanceType = (typeof PROVENANCE_TYPES)[number];

/** Of these a memory is made: it deserves no more trust than they do. */
export const DERIVATION_TYPES: readonly string[] = ["derived_from", "DERIVED_FROM", "SUPERSEDES"];

const ACCEPTED = new Set(RELATIONSHIP_TYPES.map(({ name }) => name));

/** Why callers may not set a type, or null when they may. */
export function typeError(name: string): string | null {
  if (ACCEPTED.has(name)) return null;
  const reserved = (PROVENANCE_TYPES as readonly string[]).includes(name);
  const wrong = reserved ? `${name} is reserved for the service` : `"${name.slice(0, 100)}" is not accepted`;
  return `${wrong}; accepted are ${[...ACCEPTED].join(", ")}.`;
}

function type(name: string, description: string, inverse: string | null = null): RelationshipType {
  return { name, description, inverse };
}
