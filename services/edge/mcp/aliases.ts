import type { Operation } from "../../../lib/contract/contract.ts";
import type { JsonSchema } from "../gateway/openapi/schemas.ts";
import { hintsOf } from "./hints.ts";
import type { Arguments } from "./request.ts";

/**
 * Returns the arguments under the parameters' own names. An alias counts only where its parameter is not given: then it is
 * an unknown argument. A single value for a list is its only item.
 */
export function withoutAliases(op: Operation, schema: JsonSchema, given: Arguments): Arguments {
  const { properties = {} } = schema;
  const named = { ...given };
  for (const [alias, path] of Object.entries(hintsOf(op).aliases ?? {})) {
    if (!(alias in given) || alias in properties) continue;
    const [name = "", field] = path.split(".");
    const holder = named[name];
    if (field === undefined ? name in named : isObject(holder) && field in holder) continue;
    if (field !== undefined && holder !== undefined && !isObject(holder)) continue;
    delete named[alias];
    named[name] = field === undefined ? given[alias] : { ...(holder as object), [field]: given[alias] };
  }
  for (const [name, value] of Object.entries(named)) {
    if (properties[name]?.type === "array" && ["string", "number"].includes(typeof value))
      named[name] = [value];
  }
  return named;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
