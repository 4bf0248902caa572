import { compileFilter, FilterError } from "../filter/filter.ts";
import { GLOB_BOUNDS, globError } from "../filter/glob-tokens.ts";
import { invalidValue } from "./faults.ts";
import { Type } from "./type.ts";

/** What interests and feeds say of the types they want (api.md Globs). */
export const TypeGlob = Type.String({
  minLength: 1,
  maxLength: 255,
  description:
    "Shell-style glob over event types: `*` any run of characters (dots too), `?` one, `[...]` a class; " +
    `${GLOB_BOUNDS}.`,
  examples: ["com.github.issues.*"],
});

/** What interests and feeds ask of an event besides its type (api.md Interests). */
export const FilterExpression = Type.String({
  minLength: 1,
  maxLength: 1000,
  description:
    "CEL predicate. It sees `data`, `event` (the envelope) and the top-level keys of `data` as names of their own; " +
    "an evaluation error means that the event does not match.",
  examples: ["data.issue.number > 10"],
});

/** Refuses a glob that is none. @throws Fault validation_error with `field`. */
export function checkGlob(field: string, glob: string): void {
  const error = globError(glob);
  if (error) throw invalidValue(field, `${field}: ${error}.`, { value: glob });
}

/** Refuses a filter that does not compile. @throws Fault validation_error with `field` and `position`. */
export function checkFilter(field: string, filter: string | null | undefined): void {
  if (filter === null || filter === undefined) return;
  try {
    compileFilter(filter);
  } catch (err) {
    if (!(err instanceof FilterError)) throw err;
    const details = { value: filter, position: err.position };
    throw invalidValue(field, `${field}: ${err.message} (at position ${err.position}).`, details);
  }
}
