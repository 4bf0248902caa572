import { fault, NotImplemented } from "../errors.ts";
import { parts } from "./paths.ts";
import { isDocument, type Raw, type RawObject } from "./values.ts";

export type Projection = {
  apply(document: RawObject): RawObject;
  /** False if nothing of a top-level field is wanted. */
  wants(field: string): boolean;
  /** True if only `_id` is wanted, which needs no document. */
  idOnly: boolean;
};

type Tree = { [key: string]: Tree | true };

/** Compiles an inclusion or exclusion of dotted paths; `undefined` if it excludes nothing. */
export function compileProjection(spec: RawObject | undefined): Projection | undefined {
  const keys = spec ? Object.keys(spec) : [];
  if (!spec || keys.length === 0) return undefined;
  const fields = keys.filter((key) => key !== "_id");
  const modes = new Set(fields.map((key) => wanted(key, spec[key] as Raw)));
  if (modes.size > 1) throw fault.badValue("a projection cannot mix inclusion and exclusion, but for _id");
  const keepId = spec._id === undefined || wanted("_id", spec._id);
  const including = fields.length > 0 ? modes.has(true) : keepId;
  if (including && keepId) fields.unshift("_id");
  if (!including && !keepId) fields.push("_id");
  const tree = buildTree(fields);
  const idOnly = including && keepId && fields.length === 1;
  return {
    idOnly,
    apply: (document) => (including ? include(document, tree) : exclude(document, tree)),
    wants: (field) => including === Object.hasOwn(tree, field) || typeof tree[field] === "object",
  };
}

function wanted(path: string, value: Raw): boolean {
  if (path.includes("$")) throw new NotImplemented(`the positional projection ${path}`);
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  const name = isDocument(value) ? Object.keys(value)[0] : JSON.stringify(value);
  throw new NotImplemented(`the projection ${name} of ${path}`);
}

function buildTree(paths: string[]): Tree {
  const root: Tree = {};
  for (const path of paths) {
    const steps = parts(path);
    let node = root;
    for (const step of steps.slice(0, -1)) {
      if (node[step] === undefined || node[step] === true) node[step] = {};
      node = node[step] as Tree;
    }
    node[steps.at(-1) as string] = true;
  }
  return root;
}

function include(document: RawObject, tree: Tree): RawObject {
  const kept: RawObject = {};
  for (const key of Object.keys(document)) {
    const node = Object.hasOwn(tree, key) ? tree[key] : undefined;
    if (node === undefined) continue;
    const value = node === true ? document[key] : includeIn(document[key] as Raw, node);
    if (value !== undefined) kept[key] = value;
  }
  return kept;
}

// A path through a scalar includes nothing of it; a path through an array includes the array's documents.
function includeIn(value: Raw, tree: Tree): Raw | undefined {
  if (isDocument(value)) return include(value, tree);
  if (!Array.isArray(value)) return undefined;
  return value.map((item) => includeIn(item, tree)).filter((item) => item !== undefined);
}

function exclude(document: RawObject, tree: Tree): RawObject {
  const kept: RawObject = {};
  for (const key of Object.keys(document)) {
    const node = Object.hasOwn(tree, key) ? tree[key] : undefined;
    if (node === true) continue;
    kept[key] = node === undefined ? (document[key] as Raw) : excludeIn(document[key] as Raw, node);
  }
  return kept;
}

function excludeIn(value: Raw, tree: Tree): Raw {
  if (isDocument(value)) return exclude(value, tree);
  return Array.isArray(value) ? value.map((item) => excludeIn(item, tree)) : value;
}
