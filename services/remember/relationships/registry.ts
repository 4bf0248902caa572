/** A type of relationship that callers may set. */
export interface RelationshipType {
  name: string;
  /** A statement about the source, with regard to the target. */
  description: string;
  /** The type with the same meaning from the target's side; its own name if symmetric; null without one. */
  inverse: string | null;
}

/** All types that callers may set: add new types only here (spec: Memories, relationship types). */
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

/** Types that the service records for provenance; callers cannot set these. */
export const PROVENANCE_TYPES = ["CITES", "DERIVED_FROM", "HAS_CHUNK", "MENTIONS", "SUPERSEDES"] as const;
export type ProvenanceType = (typeof PROVENANCE_TYPES)[number];

/** Types that derive a memory, which deserves no more trust than its sources. */
export const DERIVATION_TYPES: readonly string[] = ["derived_from", "DERIVED_FROM", "SUPERSEDES"];

const ACCEPTED = new Set(RELATIONSHIP_TYPES.map(({ name }) => name));

/** Returns why callers may not set a type; null if they may. */
export function typeError(name: string): string | null {
  if (ACCEPTED.has(name)) return null;
  const reserved = (PROVENANCE_TYPES as readonly string[]).includes(name);
  const wrong = reserved ? `${name} is reserved for the service` : `"${name.slice(0, 100)}" is not accepted`;
  return `${wrong}; accepted are ${[...ACCEPTED].join(", ")}.`;
}

function type(name: string, description: string, inverse: string | null = null): RelationshipType {
  return { name, description, inverse };
}
