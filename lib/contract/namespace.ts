import { Type } from "typebox";
import { nullable } from "./contract.ts";

/** The most of one page of namespaces. */
const MOST_NAMESPACES = 200;

/** Labels joined by dots; a label has no dot and no slash. */
export const Namespace = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\x00-\\x1f\\x7f./]+(\\.[^\\x00-\\x1f\\x7f./]+)*$",
    "x-expected": "labels joined by dots, without `/` and control characters",
    description,
    examples: ["customers.acme"],
  });

/** A key in a namespace. */
export const Key = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: "^[^\\x00-\\x1f\\x7f]+$",
    "x-expected": "text without control characters",
    description,
    examples: ["terms"],
  });

/** The parameters of a list of namespaces. */
export const namespacesQuery = {
  prefix: Type.Optional(Namespace("Only this namespace and those below it.")),
  max_depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      description: "Most labels of a namespace: deeper ones are cut off to these, and listed once.",
    }),
  ),
  after: Type.Optional(Namespace("The last namespace of the previous page.")),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MOST_NAMESPACES, default: 100, description: "Maximum number." }),
  ),
};

export const NamespacesPage = Type.Object({
  namespaces: Type.Array(Type.String({ examples: ["customers.acme"] })),
  next: nullable(Type.String({ description: "To pass as `after` for the next page; null: the last one." })),
});
