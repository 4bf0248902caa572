import { Type } from "typebox";
import { explain } from "../filter/explain.ts";
import { compileFilter, FilterError } from "../filter/filter.ts";
import { GLOB_BOUNDS, globError } from "../filter/glob.ts";
import { requirePossibleNames } from "../filter/names.ts";
import { invalidValue } from "./faults.ts";
import { AnyText, SomeText } from "./schema.ts";

/** The glob of an interest or feed (api.md Globs). */
export const TypeGlob = SomeText(
  255,
  "Glob over event types: `*` matches any characters including dots, `?` one, `[...]` a class; " +
    `${GLOB_BOUNDS}.`,
  "com.github.issues.*",
);

/** The filter of an interest or feed (api.md Interests). */
export const FilterExpression = AnyText(
  1000,
  "CEL predicate over `data`, `event` (the envelope) and the top-level keys of `data`. " +
    "If its evaluation fails, the event does not match. Empty: no filter.",
  "data.issue.number > 10",
);

/** Warnings of an answer about a subscription that is likely to match nothing. */
export const SubscriptionWarnings = Type.Optional(
  Type.Array(Type.String(), {
    description:
      "Only on creation and change: why it is likely to match nothing, as the latest events show. Absent without reason.",
    examples: [
      [
        "None of the last events has a type that `com.example.ordr.*` matches. Did you mean `com.example.order.*`?",
      ],
    ],
  }),
);

/** Validates a glob. @throws Fault validation_error with `field`. */
export function checkGlob(field: string, glob: string): void {
  const error = globError(glob);
  if (error) throw invalidValue(field, `${field}: ${error}.`, { value: glob });
}

/** Returns a filter as it is stored: null for none, which a blank text is too. */
export function givenFilter(filter: string | null | undefined): string | null {
  return filter?.trim() ? filter : null;
}

/** Validates that a filter compiles and reads nothing that no event can have. @throws Fault validation_error with `field` and `position`. */
export function checkFilter(field: string, filter: string | null | undefined): void {
  if (!filter?.trim()) return;
  try {
    compileFilter(filter);
    requirePossibleNames(filter);
  } catch (err) {
    if (!(err instanceof FilterError)) throw err;
    const { message, position } = explain(err, filter);
    const details = { value: filter, position };
    throw invalidValue(field, `${field}: ${message} (at position ${position}).`, details);
  }
}
