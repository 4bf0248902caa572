import { fault, NotImplemented } from "../errors.ts";
import { isDocument, type Raw } from "../query/values.ts";

const MODIFIERS = new Set(["$each", "$position", "$slice"]);

/** Compiles the operand of `$push`, with `$each`, `$position` and `$slice`, into a function of the array. */
export function pushInto(operand: Raw): (array: Raw[]) => Raw[] {
  if (!isDocument(operand) || operand.$each === undefined) return (array) => [...array, operand];
  for (const name of Object.keys(operand)) {
    if (!MODIFIERS.has(name)) throw new NotImplemented(`the $push modifier ${name}`);
  }
  const { $each: each, $position: position, $slice: slice } = operand;
  if (!Array.isArray(each)) throw fault.badValue("The argument to $each in $push must be an array");
  if (position !== undefined && !Number.isInteger(position))
    throw fault.badValue("The value for $position must be an integer");
  if (slice !== undefined && !Number.isInteger(slice))
    throw fault.badValue("The value for $slice must be an integer");
  return (array) => {
    const joined = [...array];
    joined.splice((position as number | undefined) ?? joined.length, 0, ...each);
    return cut(joined, slice as number | undefined);
  };
}

function cut(array: Raw[], slice: number | undefined): Raw[] {
  if (slice === undefined) return array;
  if (slice === 0) return [];
  return slice > 0 ? array.slice(0, slice) : array.slice(slice);
}
