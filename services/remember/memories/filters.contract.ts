import { Type } from "typebox";
import { Id } from "../../../lib/contract/schema.ts";
import { MOST_KEY, MOST_TEXT } from "../../../lib/filter/metadata.ts";

export const MOST_CONDITIONS = 10;
const MOST_VALUES = 50;
export const MOST_SUBJECT = 1000;

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

const Time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));

/** Filters of the list and of the search of memories; both have `metadata`, too. */
export const memoryFilters = {
  agent_id: Type.Optional(Id("ag", "Only memories that this agent owns.")),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MOST_SUBJECT,
      description: "Only memories about this subject: `metadata.subject`, or the subject of their source.",
    }),
  ),
  created_from: Time("Only memories created at this time or later."),
  created_until: Time("Only memories created before this time."),
  updated_from: Time("Only memories updated at this time or later."),
  updated_until: Time("Only memories updated before this time."),
  freshness_from: Time("Only memories whose `freshness_date` is this time or later."),
  freshness_until: Time("Only memories whose `freshness_date` is before this time."),
};
