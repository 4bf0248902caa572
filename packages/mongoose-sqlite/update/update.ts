import { fault, NotImplemented } from "../errors.ts";
import { compileFilter, elementTest, isOperators } from "../query/filter.ts";
import { isIndex, parts } from "../query/paths.ts";
import {
  compare,
  isDocument,
  type Maybe,
  numberOf,
  Rank,
  type Raw,
  type RawObject,
  rankOf,
  rawNumber,
} from "../query/values.ts";
import { pushInto } from "./push.ts";

/**
 * A compiled update in raw form, for any number of documents. Operands become part of a document without a copy:
 * serialize the document before changing the next.
 */
export type Update = {
  /** Changes the document in place. `insert` also applies `$setOnInsert`. */
  apply(document: RawObject, insert: boolean): void;
  /** Dotted paths it may change; `undefined`: the whole document. */
  paths: string[] | undefined;
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
      if (name === "$rename") paths.push(fields[path] as string);
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
  const sorted = [...paths].sort();
  const seen = new Set<string>();
  for (const path of sorted) {
    for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
      const prefix = path.slice(0, end);
      if (seen.has(prefix)) throw fault.conflictingUpdate(path, prefix);
    }
    seen.add(path);
  }
}

/** Returns the container and key at the end of a path; creates missing ones if asked, else `undefined`. */
function locate(document: RawObject, path: string[], create: boolean): Slot | undefined {
  let holder: RawObject | Raw[] = document;
  for (let i = 0; i < path.length - 1; i++) {
    const slot = slotOf(holder, path, i, create);
    if (!slot) return undefined;
    let next: Maybe = slot.get();
    if (next === undefined) {
      if (!create) return undefined;
      next = {};
      slot.set(next);
    }
    if (!isDocument(next) && !Array.isArray(next)) {
      if (!create) return undefined;
      throw fault.pathNotViable(
        `Cannot create field '${path[i + 1]}' in element {${path[i]}: ${JSON.stringify(next)}}`,
      );
    }
    holder = next;
  }
  return slotOf(holder, path, path.length - 1, create);
}

type Slot = { get(): Maybe; set(value: Raw): void; remove(): void };

function slotOf(holder: RawObject | Raw[], path: string[], at: number, create: boolean): Slot | undefined {
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
    throw fault.pathNotViable(
      `Cannot create field '${part}' in element {${path[at - 1]}: ${JSON.stringify(holder)}}`,
    );
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

function arithmetic(
  name: string,
  missing: (operand: number) => number,
  combine: (a: number, b: number) => number,
): Operator {
  return (path, operand, label) => {
    if (rankOf(operand) !== Rank.number)
      throw fault.typeMismatch(
        `Cannot ${name} with non-numeric argument: {${label}: ${JSON.stringify(operand)}}`,
      );
    const amount = numberOf(operand);
    return (document) => {
      const slot = locate(document, path, true) as Slot;
      const value = slot.get();
      if (value !== undefined && rankOf(value) !== Rank.number) {
        throw fault.typeMismatch(
          `Cannot apply $${name === "increment" ? "inc" : "mul"} to a value of non-numeric type at '${label}'`,
        );
      }
      slot.set(rawNumber(value === undefined ? missing(amount) : combine(numberOf(value), amount)));
    };
  };
}

function extreme(sign: 1 | -1): Operator {
  return (path, operand) => (document) => {
    const slot = locate(document, path, true) as Slot;
    const value = slot.get();
    if (value === undefined || compare(operand, value) * sign > 0) slot.set(operand);
  };
}

function arrayAt(slot: Slot, label: string, operator: string): Raw[] | undefined {
  const value = slot.get();
  if (value === undefined) return undefined;
  if (!Array.isArray(value))
    throw fault.badValue(
      `The field '${label}' must be an array but is of type ${typeof value} (${operator})`,
    );
  return value;
}

function push(path: string[], operand: Raw, label: string): Step {
  const insert = pushInto(operand);
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    slot.set(insert(arrayAt(slot, label, "$push") ?? []));
  };
}

function addToSet(path: string[], operand: Raw, label: string): Step {
  const each = isDocument(operand) && operand.$each !== undefined ? operand.$each : [operand];
  if (!Array.isArray(each)) throw fault.typeMismatch("The argument to $each in $addToSet must be an array");
  return (document) => {
    const slot = locate(document, path, true) as Slot;
    const array = arrayAt(slot, label, "$addToSet") ?? [];
    for (const item of each) if (!array.some((held) => compare(held, item) === 0)) array.push(item);
    slot.set(array);
  };
}

function removeFrom(path: string[], label: string, operator: string, drop: (item: Raw) => boolean): Step {
  return (document) => {
    const slot = locate(document, path, false);
    const array = slot && arrayAt(slot, label, operator);
    if (!array?.some(drop)) return;
    slot?.set(array.filter((item) => !drop(item)));
  };
}

function pull(path: string[], operand: Raw, label: string): Step {
  if (isOperators(operand)) return removeFrom(path, label, "$pull", elementTest(operand));
  if (!isDocument(operand)) {
    if (rankOf(operand) === Rank.regex)
      return removeFrom(path, label, "$pull", elementTest({ $regex: operand }));
    return removeFrom(path, label, "$pull", (item) => compare(item, operand) === 0);
  }
  const test = compileFilter(operand);
  return removeFrom(path, label, "$pull", (item) => isDocument(item) && test(item));
}

function pullAll(path: string[], operand: Raw, label: string): Step {
  if (!Array.isArray(operand)) throw fault.badValue("$pullAll requires an array argument");
  return removeFrom(path, label, "$pullAll", (item) => operand.some((given) => compare(item, given) === 0));
}

function pop(path: string[], operand: Raw, label: string): Step {
  if (operand !== 1 && operand !== -1)
    throw fault.badValue(`$pop expects 1 or -1, found: ${JSON.stringify(operand)}`);
  return (document) => {
    const slot = locate(document, path, false);
    const array = slot && arrayAt(slot, label, "$pop");
    if (array) slot?.set(operand === 1 ? array.slice(0, -1) : array.slice(1));
  };
}

function rename(path: string[], operand: Raw, label: string): Step {
  if (typeof operand !== "string")
    throw fault.badValue(`The 'to' field for $rename must be a string: ${label}`);
  checkPath(operand);
  const target = parts(operand);
  return (document) => {
    const slot = locate(document, path, false);
    const value = slot?.get();
    if (value === undefined) return;
    slot?.remove();
    (locate(document, target, true) as Slot).set(value);
  };
}

function currentDate(path: string[], operand: Raw): Step {
  const date = operand === true || (isDocument(operand) && operand.$type === "date");
  if (!date) throw new NotImplemented("$currentDate with a $type other than date");
  return (document) => (locate(document, path, true) as Slot).set({ $: Date.now() });
}

const OPERATORS: Record<string, Operator | undefined> = {
  $set: set,
  $setOnInsert: set,
  $unset: unset,
  $inc: arithmetic(
    "increment",
    (n) => n,
    (a, b) => a + b,
  ),
  $mul: arithmetic(
    "multiply",
    () => 0,
    (a, b) => a * b,
  ),
  $min: extreme(-1),
  $max: extreme(1),
  $push: push,
  $addToSet: addToSet,
  $pull: pull,
  $pullAll: pullAll,
  $pop: pop,
  $rename: rename,
  $currentDate: currentDate,
};
