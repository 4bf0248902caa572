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
  type("related_to", "Is related to it in a way that no other type describes.", "related_to"),
  type("supports", "Is evidence for it."),
  type("contradicts", "Cannot be true if it is true.", "contradicts"),
  type("caused_by", "Is its effect.", "causes"),
  type("causes", "Is its cause.", "caused_by"),
  type("derived_from", "Was concluded or written from it, and is trusted no more than it."),
  type("part_of", "Is part of it."),
  type("depends_on", "Is true only while it is true."),
  type("precedes", "Is before it in time or order.", "follows"),
  type("follows", "Is after it in time or order.", "precedes"),
  type("supersedes", "Replaces it. Does not change its status.", "superseded_by"),
  type("superseded_by", "Is replaced by it. Does not change the status.", "supersedes"),
  type("corrects", "Corrects it.", "corrected_by"),
  type("corrected_by", "Is corrected by it.", "corrects"),
  type("references", "Mentions it."),
  type("generalizes", "Makes the same statement about more cases.", "specializes"),
  type("specializes", "Makes the same statement about fewer cases.", "generalizes"),
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
  const wrong = reserved ? `${name} is recorded only by the service` : `"${name.slice(0, 100)}" is unknown`;
  return `${wrong}. Expected one of ${[...ACCEPTED].join(", ")}.`;
}

function type(name: string, description: string, inverse: string | null = null): RelationshipType {
  return { name, description, inverse };
}
