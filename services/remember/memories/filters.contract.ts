import { type TOptional, type TString, Type } from "typebox";
import { AnyText, Id, SomeText } from "../../../lib/contract/schema.ts";
import { MOST_KEY, MOST_TEXT } from "../../../lib/filter/metadata.ts";

export const MOST_CONDITIONS = 10;
const MOST_VALUES = 50;
/** Longer values are in no filter. */
export const MOST_LABEL = 1000;

const VALUES = [Type.String({ maxLength: MOST_TEXT }), Type.Number(), Type.Boolean()] as const;
const Bound = (description: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.Number(),
        Type.String({
          "x-format": "date-or-date-time",
          maxLength: MOST_TEXT,
          description: "A date, or a date and time (RFC 3339).",
        }),
      ],
      { description },
    ),
  );

const Condition = Type.Union([
  ...VALUES,
  Type.Object(
    {
      in: Type.Optional(
        Type.Array(Type.Union([...VALUES]), {
          minItems: 1,
          maxItems: MOST_VALUES,
          description: "One of these values.",
        }),
      ),
      gt: Bound("More than this, or after it."),
      gte: Bound("At least this, or not before it."),
      lt: Bound("Less than this, or before it."),
      lte: Bound("At most this, or not after it."),
    },
    { additionalProperties: false },
  ),
]);

/** Number and names of its keys are checked by `toConditions`: not every reader of schemas knows keywords for them. */
export const MetadataFilter = Type.Record(Type.String(), Condition, {
  description:
    "Only memories whose `metadata` has these values: for each key a text, number or boolean, or an object with `in`, `gt`, " +
    "`gte`, `lt` and `lte`. Bounds are numbers, or dates for texts that are dates. A list matches if one of its values " +
    `does. At most ${MOST_CONDITIONS} keys of up to ${MOST_KEY} characters without dots and dollar signs; nested keys cannot be named.`,
  examples: [{ customer: "acme", amount: { gte: 100, lt: 500 } }],
});

/**
 * Values that lists and searches filter by, each with the field of the row that has it or a list of it. `entry`: the field
 * of the search entry that has it; others become labels of the entry.
 */
export const FILTER_VALUES = {
  agent_id: { row: "agent_id", entry: "agent_id", value: Id("ag", "Only memories that this agent owns.") },
  subject: {
    row: "subjects",
    value: SomeText(
      MOST_LABEL,
      "Only memories about this subject: `metadata.subject`, or the subject of their source.",
    ),
  },
  source_type: {
    row: "source_type",
    value: AnyText(100, "Only memories with this `source_type`."),
  },
} as const;

/** Times that they filter by, as `<name>_from` and `<name>_until`: fields of the row and of the search entry. */
export const FILTER_TIMES = {
  created: { row: "created_at", entry: "created_at" },
  updated: { row: "updated_at", entry: "updated_at" },
  freshness: { row: "freshness_date", entry: "date" },
} as const;

const Time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

type MemoryFilters = {
  [Name in keyof typeof FILTER_VALUES]: TOptional<(typeof FILTER_VALUES)[Name]["value"]>;
} & { [Name in keyof typeof FILTER_TIMES as `${Name}_${"from" | "until"}`]: TOptional<TString> };

/** Filters of the list and of the search of memories; both have `metadata`, too. A new one is declared above. */
export const memoryFilters = Object.fromEntries([
  ...Object.entries(FILTER_VALUES).map(([name, { value }]) => [name, Type.Optional(value)]),
  ...Object.entries(FILTER_TIMES).flatMap(([name, { row }]) => [
    [`${name}_from`, Time(`Only memories whose \`${row}\` is this time or later.`)],
    [`${name}_until`, Time(`Only memories whose \`${row}\` is before this time.`)],
  ]),
]) as MemoryFilters;
