import { type HeldAt, type SearchWhere, TIMES, type TimeBounds } from "../entry.ts";
import type { LegsQuery } from "../protocol.ts";
import { type EntryDoc, NONE, readerLabels } from "./entries.ts";
import { labelsFor } from "./metadata-labels.ts";

/** A condition on an entry: one of some values, none of them, or a range. All conditions of a query must hold. */
export type Condition =
  | { path: FilterPath; in: (string | boolean)[] }
  | { path: FilterPath; out: string[] }
  | { path: FilterPath; gt?: number; gte?: number; lt?: number; lte?: number }
  /** One of them holds. */
  | { any: Condition[] };

/** The fields that both Atlas indexes filter by, with their types. */
export const FILTER_PATHS = {
  tenant_id: "token",
  id: "token",
  kind: "token",
  readers: "token",
  scope: "token",
  agent_id: "token",
  team_id: "token",
  type: "token",
  project_id: "token",
  tags: "token",
  audience: "token",
  metadata: "token",
  embedded: "token",
  superseded: "boolean",
  ...(Object.fromEntries(TIMES.map((name) => [name, "number"])) as Record<(typeof TIMES)[number], "number">),
  expires_at: "number",
  valid_from: "number",
  valid_until: "number",
  succeeded_at: "number",
  replaced_at: "number",
} as const satisfies Partial<Record<keyof EntryDoc, string>>;
type FilterPath = keyof typeof FILTER_PATHS;

type Query = Pick<LegsQuery, "tenant_id" | "kind" | "access" | "where" | "include_superseded" | "now">;

/** Returns a query's conditions, which always include the tenant and the readers. */
export function buildConditions(query: Query): Condition[] {
  const { tenant_id, kind, access, where, include_superseded, now } = query;
  const { types, scope, project_id, tags_any, agent_id, audience = [], except = {}, metadata = [] } = where;
  const conditions: Condition[] = [
    { path: "tenant_id", in: [tenant_id] },
    { path: "kind", in: [kind] },
    { path: "readers", in: readerLabels(access) },
    { path: "expires_at", gt: now },
  ];
  if (!include_superseded) conditions.push(...unlessHeldIn(where.past));
  if (types) conditions.push({ path: "type", in: types });
  if (scope) conditions.push({ path: "scope", in: [scope] });
  if (project_id !== undefined) conditions.push({ path: "project_id", in: [project_id ?? NONE] });
  if (tags_any?.length) conditions.push({ path: "tags", in: tags_any });
  if (agent_id !== undefined) conditions.push({ path: "agent_id", in: [agent_id] });
  for (const labels of audience) conditions.push({ path: "audience", in: labels });
  if (except.types?.length) conditions.push({ path: "type", out: except.types });
  if (except.project_ids?.length) conditions.push({ path: "project_id", out: except.project_ids });
  for (const each of metadata) conditions.push({ path: "metadata", in: labelsFor(each) });
  return [
    ...conditions,
    ...TIMES.flatMap((name) => within(name, where.times?.[name])),
    ...(where.held ? heldAt(where.held) : []),
  ];
}

/** As `held` of entry.ts. */
function heldAt({ at, known, corrected = { held: [], not: [] } }: HeldAt): Condition[] {
  const conditions: Condition[][] = [
    [{ path: "valid_from", lte: at }],
    [{ path: "valid_until", gt: at }],
    [{ path: "created_at", lte: known }],
    [
      { path: "succeeded_at", gt: at },
      { path: "replaced_at", gt: known },
    ],
  ];
  const then: Condition[] = corrected.held.length > 0 ? [{ path: "id", in: corrected.held }] : [];
  return [
    ...conditions.map((some) => ({ any: [...some, ...then] })),
    ...(corrected.not.length > 0 ? [{ path: "id" as const, out: corrected.not }] : []),
  ];
}

function unlessHeldIn(past: SearchWhere["past"]): Condition[] {
  const inForce: Condition = { path: "superseded", in: [false] };
  if (!past) return [inForce];
  const { from, to } = past;
  const then: Condition[] = [
    { path: "valid_from", lt: to },
    { path: "valid_until", gt: from },
    { path: "succeeded_at", gt: from },
  ];
  return then.map((condition) => ({ any: [inForce, condition] }));
}

function within(path: (typeof TIMES)[number], { since, until }: TimeBounds = {}): Condition[] {
  return [
    ...(since === undefined ? [] : [{ path, gte: since }]),
    ...(until === undefined ? [] : [{ path, lt: until }]),
  ];
}

/** Whether no entry can match: Atlas refuses an empty list instead of finding nothing. */
export function areHopeless(conditions: readonly Condition[]): boolean {
  return conditions.some((each) => "in" in each && each.in.length === 0);
}

/** Formats conditions for `$match` and the `filter` of `$vectorSearch`. */
export function asMatch(conditions: readonly Condition[]): { $and: object[] } {
  return {
    $and: conditions.map((condition) => {
      if ("any" in condition) return { $or: asMatch(condition.any).$and };
      const { path, ...rest } = condition;
      if ("in" in rest) return { [path]: { $in: rest.in } };
      if ("out" in rest) return { [path]: { $nin: rest.out } };
      return { [path]: Object.fromEntries(Object.entries(rest).map(([name, value]) => [`$${name}`, value])) };
    }),
  };
}

/** Formats conditions as clauses of a `compound` of `$search` that do not score. */
export function asCompound(conditions: readonly Condition[]): { filter: object[]; mustNot?: object[] } {
  const filter: object[] = [];
  const mustNot: object[] = [];
  for (const condition of conditions) {
    if ("any" in condition) {
      const should = condition.any.flatMap((each) => asCompound([each]).filter);
      filter.push({ compound: { should, minimumShouldMatch: 1 } });
      continue;
    }
    const { path, ...rest } = condition;
    if ("in" in rest) filter.push(equalsOneOf(path, rest.in));
    else if ("out" in rest) mustNot.push(equalsOneOf(path, rest.out));
    else filter.push({ range: { path, ...rest } });
  }
  return { filter, ...(mustNot.length > 0 && { mustNot }) };
}

function equalsOneOf(path: FilterPath, values: readonly unknown[]): object {
  return values.length === 1 ? { equals: { path, value: values[0] } } : { in: { path, value: values } };
}

/** Whether a given entry matches. */
export function fits(entry: Pick<EntryDoc, FilterPath>, conditions: readonly Condition[]): boolean {
  return conditions.every((condition): boolean => {
    if ("any" in condition) return condition.any.some((each) => fits(entry, [each]));
    const { path, ...rest } = condition;
    const values = [entry[path]].flat() as (string | number | boolean | null)[];
    if ("in" in rest) return values.some((value) => rest.in.includes(value as string));
    if ("out" in rest) return !values.some((value) => rest.out.includes(value as string));
    const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = rest;
    const isWithin = (value: number) => value > gt && value >= gte && value < lt && value <= lte;
    return values.every((value) => value !== null && isWithin(Number(value)));
  });
}
