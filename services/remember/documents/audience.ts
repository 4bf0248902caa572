import type { MemoryScope } from "../../../lib/access/visibility.ts";
import { AUDIENCES, type Audience, type Sensitivity } from "./documents.contract.ts";

/** Returns the scope of a sensitivity (api: Knowledge). */
export function scopeOf(sensitivity: Sensitivity, team_id: string | null): MemoryScope {
  if (sensitivity === "public" || sensitivity === "internal") return "institutional";
  return team_id === null ? "agent" : "team";
}

/** `AudienceInput` of the contract. */
type GivenAudience = { [K in keyof Audience]?: string[] | undefined };

export function normaliseAudience(audience: GivenAudience = {}): Audience {
  return Object.fromEntries(AUDIENCES.map((kind) => [kind, [...new Set(audience[kind] ?? [])]])) as Audience;
}

/** Labels are compared without case. */
export const folded = (value: string) => value.normalize("NFC").toLowerCase();
const label = (kind: string, value: string) => `${kind}:${folded(value)}`;
const everyone = (kind: string) => `${kind}:*`;

/** Returns a document's labels for search: an empty list is for everyone. */
export function labelsOf(audience: Audience): string[] {
  return AUDIENCES.flatMap((kind) =>
    audience[kind].length ? audience[kind].map((value) => label(kind, value)) : everyone(kind),
  );
}

/** Returns the labels to search for: a document must match at least one of each requested list. */
export function wantedLabels(wanted: GivenAudience = {}): string[][] {
  const audience = normaliseAudience(wanted);
  return AUDIENCES.filter((kind) => audience[kind].length).map((kind) => [
    everyone(kind),
    ...audience[kind].map((value) => label(kind, value)),
  ]);
}
