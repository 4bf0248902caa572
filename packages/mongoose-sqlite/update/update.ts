import { fault, NotImplemented } from "../errors.ts";
import { isIndex, parts } from "../query/paths.ts";
import {
  compare,
  isDocument,
  type Maybe,
  Rank,
  type Raw,
  type RawObject,
  rawNumber,
  toNumber,
  typeRank,
} from "../query/values.ts";

/**
 * A compiled update in raw form, for any number of documents. Operands become part of a document without a copy:
 * serialize the document before changing the next.
 */
export type Update = {
  /** Changes the document in place. `insert` also applies `$setOnInsert`. */
  apply(document: RawObject, insert: boolean): void;
  /** Dotted paths it may change. */
  paths: string[];
};

type Step = (document: RawObject) => void;
type Operator = (path: string[], operand: Raw, name: string) => Step;

/** Compiles update operators. Throws `NotImplemented` for an unsupported one, a server fault for a malformed one. */
export function compileUpdate(update: RawObject): Update {
  const steps: Step[] = [];
  const onInsert: Step[] = [];
  const paths: string[] = [];
  for (const name of Object.keys(update)) {
    const operator = OPERATORS[name];
    if (!operator) throw new NotImplemented(`the update operator ${name}`);
    const fields = update[name] as Raw;
    if (!isDocument(fields))
      throw fault.badValue(`Modifiers operate on fields but we found another type for ${name}`);
    for (const path of Object.keys(fields)) {
      checkPath(path);
      paths.push(path);
      (name === "$setOnInsert" ? onInsert : steps).push(operator(parts(path), fields[path] as Raw, path));
    }
  }
  checkConflicts(paths);
  const apply = (document: RawObject, insert: boolean) => {
    for (const step of steps) step(document);
    if (insert) for (const step of onInsert) step(document);
  };
  return { apply, paths };
}

function checkPath(path: string): void {
  for (const part of parts(path)) {
    if (part === "") throw fault.badValue(`The update path '${path}' contains an empty field name`);
    if (part[0] === "$" && (part === "$" || part[1] === "["))
      throw new NotImplemented(`the positional operator ${part}`);
  }
}

function checkConflicts(paths: string[]): void {
  if (paths.length < 2) return;
  const seen = new Set<string>();
  for (const path of [...paths].sort()) {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      const prefix = path.slice(0, end);
      if (seen.has(prefix)) throw fault.conflictingUpdate(path, prefix);
    }
    seen.add(path);
  }
}

type Slot = { get(): Maybe; set(value: Raw): void; remove(): void };

/** Returns the container and key at the end of a path; creates missing ones if asked, else `undefined`. */
function locate(document: RawObject, path: string[], create: boolean): Slot | undefined {
  let holder: RawObject | Raw[] = document;
  for (let i = 0; i < path.length - 1; i++) {
    const slot = findSlot(holder, path, i, create);
    let next = slot?.get();
    if (next === undefined && create) {
      next = {};
      slot?.set(next);
    }
    if (!isDocument(next) && !Array.isArray(next)) {
      if (!create) return undefined;
      throw notViable(path, i + 1, next as Raw);
    }
    holder = next;
  }
  return findSlot(holder, path, path.length - 1, create);
}

function findSlot(holder: RawObject | Raw[], path: string[], at: number, create: boolean): Slot | undefined {
  const part = path[at] as string;
  if (!Array.isArray(holder)) {
    return {
      get: () => (Object.hasOwn(holder, part) ? holder[part] : undefined),
      set: (value) => setOwn(holder, part, value),
      remove: () => delete holder[part],
    };
  }
  if (!isIndex(part)) {
    if (!create) return undefined;
    throw notViable(path, at, holder);
  }
  const index = Number(part);
  return {
    get: () => holder[index],
    set: (value) => {
      while (holder.length < index) holder.push(null);
      holder[index] = value;
    },
    // MongoDB leaves a null where it unsets an element
    remove: () => {
      if (index < holder.length) holder[index] = null;
    },
  };
}

function notViable(path: string[], at: number, holder: Raw): Error {
  return fault.pathNotViable(
    `Cannot create field '${path[at]}' in element {${path[at - 1]}: ${JSON.stringify(holder)}}`,
  );
}

function setOwn(holder: RawObject, key: string, value: Raw): void {
  if (key === "__proto__")
    Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
  else holder[key] = value;
}

function set(path: string[], operand: Raw): Step {
  if (path.length === 1) {
    const key = path[0] as string;
    return (document) => setOwn(document, key, operand);
  }
  return (document) => (locate(document, path, true) as Slot).set(operand);
}

function unset(path: string[]): Step {
  return (document) => locate(document, path, false)?.remove();
}

function inc(path: string[], operand: Raw, label: string): Step {
  if (typeRank(operand) !== Rank.number)
    throw fault.typeMismatch(
      `Cannot increment with non-numeric argument: {${label}: ${JSON.stringify(operand)}}`,
    );
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    const value = slot.get();
    if (value !== undefined && typeRank(value) !== Rank.number)
      throw fault.typeMismatch(`Cannot apply $inc to a value of non-numeric type at '${label}'`);
    slot.set(rawNumber((value === undefined ? 0 : toNumber(value)) + toNumber(operand)));
  };
}

function max(path: string[], operand: Raw): Step {
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    const value = slot.get();
    if (value === undefined || compare(operand, value) > 0) slot.set(operand);
  };
}

function arrayAt(slot: Slot | undefined, label: string, operator: string): Raw[] | undefined {
  const value = slot?.get();
  if (value === undefined || Array.isArray(value)) return value;
  throw fault.badValue(`The field '${label}' must be an array but is of type ${typeof value} (${operator})`);
}

/** Returns the items of `$push` or `$addToSet`, with `$each` or without. */
function listItems(operand: Raw, operator: string): Raw[] {
  if (!isDocument(operand) || operand.$each === undefined) return [operand];
  if (!Array.isArray(operand.$each))
    throw fault.badValue(`The argument to $each in ${operator} must be an array`);
  return operand.$each;
}

function push(path: string[], operand: Raw, label: string): Step {
  const items = listItems(operand, "$push");
  const slice = sliceOf(operand);
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    const joined = [...(arrayAt(slot, label, "$push") ?? []), ...items];
    slot.set(slice === undefined ? joined : joined.slice(slice));
  };
}

function sliceOf(operand: Raw): number | undefined {
  if (!isDocument(operand) || operand.$each === undefined) return undefined;
  const { $each, $slice, ...others } = operand;
  for (const name of Object.keys(others)) throw new NotImplemented(`the $push modifier ${name}`);
  if ($slice !== undefined && !(Number.isInteger($slice) && ($slice as number) < 0))
    throw new NotImplemented("a $slice of $push that is not negative");
  return $slice as number | undefined;
}

function addToSet(path: string[], operand: Raw, label: string): Step {
  const items = listItems(operand, "$addToSet");
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    const array = arrayAt(slot, label, "$addToSet") ?? [];
    for (const item of items) if (!array.some((held) => compare(held, item) === 0)) array.push(item);
    slot.set(array);
  };
}

function pull(path: string[], operand: Raw, label: string): Step {
  if (isDocument(operand)) throw new NotImplemented("$pull by a condition");
  return (document) => {
    const slot = locate(document, path, false);
    const array = arrayAt(slot, label, "$pull");
    const left = array?.filter((item) => compare(item, operand) !== 0);
    if (left && left.length < (array as Raw[]).length) slot?.set(left);
  };
}

const OPERATORS: Record<string, Operator | undefined> = {
  $set: set,
  $setOnInsert: set,
  $unset: unset,
  $inc: inc,
  $max: max,
  $push: push,
  $addToSet: addToSet,
  $pull: pull,
};
