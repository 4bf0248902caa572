import type { Static, TObject } from "typebox";

type Required<T> = { [K in keyof T]-?: undefined extends T[K] ? never : K }[keyof T];

/** A row that has what a schema requires, except for what is given besides. */
type RowOf<T, M> = { [K in Exclude<Required<T>, "id" | keyof M>]: unknown } & object;

/**
 * Returns what a schema shows of a row, and nothing else of it: `_id` as `id`, times in ISO 8601, and null where a
 * required field has no value. `more` has the fields that the row lacks, or that differ in it.
 */
export function presentAs<S extends TObject, M extends Partial<Static<S>> = Record<never, never>>(
  schema: S,
  row: RowOf<Static<S>, M>,
  more?: M,
): Static<S> {
  const { _id, ...fields } = row as Record<string, unknown>;
  const shown: Record<string, unknown> = { id: _id, ...fields, ...more };
  const required: readonly string[] = schema.required ?? [];
  const entries = Object.keys(schema.properties).flatMap((key) => {
    const value = shown[key];
    if (value === undefined && !required.includes(key)) return [];
    return [[key, value instanceof Date ? value.toISOString() : (value ?? null)]];
  });
  return Object.fromEntries(entries);
}
