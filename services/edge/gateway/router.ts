import type { Operation } from "../../../lib/contract/contract.ts";
import { wrongMethod } from "./paths.ts";

/** A path's routes by method. */
interface Found {
  routes: ReadonlyMap<string, Route>;
  /** Values of the placeholders, in order. */
  values: readonly string[];
}

interface Route {
  op: Operation;
  /** Names of the placeholders, in order. */
  names: readonly string[];
}

interface Node {
  literals: Map<string, Node>;
  /** Child placeholders: `{id}`, or `{id}:confirm` whose suffix is part of the segment. */
  placeholders: { suffix: string; node: Node }[];
  routes: Map<string, Route>;
}

const newNode = (): Node => ({ literals: new Map(), placeholders: [], routes: new Map() });

/**
 * Finds the operations of a path in a tree of segments, literal segments before placeholders, so `/memories/search` never
 * matches `/memories/{id}`.
 */
export class Router {
  readonly #root = newNode();

  /** @throws Error if two operations have the same method and path: one would be unreachable. */
  constructor(operations: readonly Operation[], versionPrefix: string) {
    for (const op of operations) {
      for (const path of [op.url, ...(op.also ?? [])]) {
        const url = op.root ? path : versionPrefix + path;
        const { routes, names } = this.#place(url);
        if (routes.has(op.method))
          throw new Error(`${op.method} ${url} is declared twice. Change the method or URL of one.`);
        routes.set(op.method, { op, names });
      }
    }
  }

  /** Returns null for an unknown path; ignores a trailing slash. */
  find(path: string): Found | null {
    const clean = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    const values: string[] = [];
    const node = descend(this.#root, clean.split("/"), 1, values);
    return node && { routes: node.routes, values };
  }

  /**
   * Returns the operation of a path and its placeholders' values; null for an unknown path.
   *
   * @throws Fault method_not_allowed
   */
  resolve(path: string, method: string): { op: Operation; path: Record<string, string> } | null {
    const found = this.find(path);
    if (!found) return null;
    const isHead = method === "HEAD";
    const route = found.routes.get(isHead ? "GET" : method);
    if (!route || (isHead && route.op.takes)) throw wrongMethod(method, path, methodsOf(found));
    return { op: route.op, path: pathParams(route, found.values) };
  }

  #place(url: string): { routes: Map<string, Route>; names: string[] } {
    let node = this.#root;
    const names: string[] = [];
    for (const segment of url.split("/").slice(1)) {
      node = child(node, segment, names);
    }
    return { routes: node.routes, names };
  }
}

/** Returns the methods of a path; HEAD wherever GET is a plain read. */
function methodsOf({ routes }: Found): string[] {
  const methods = [...routes.keys()];
  const get = routes.get("GET");
  return get && !get.op.takes ? [...methods, "HEAD"] : methods;
}

/** Returns the values of a route's placeholders by name. */
export function pathParams({ names }: Route, values: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (let i = 0; i < names.length; i++) params[names[i] as string] = values[i] as string;
  return params;
}

const PLACEHOLDER = /^\{(\w+)\}(.*)$/;

function child(node: Node, segment: string, names: string[]): Node {
  const placeholder = PLACEHOLDER.exec(segment);
  if (!placeholder) {
    const next = node.literals.get(segment) ?? newNode();
    node.literals.set(segment, next);
    return next;
  }
  const [, name, suffix] = placeholder as unknown as [string, string, string];
  names.push(name);
  const known = node.placeholders.find((each) => each.suffix === suffix);
  if (known) return known.node;
  const next = newNode();
  node.placeholders.push({ suffix, node: next });
  // The longest suffix first: `{id}:confirm` before `{id}`.
  node.placeholders.sort((a, b) => b.suffix.length - a.suffix.length);
  return next;
}

function descend(node: Node, segments: string[], at: number, values: string[]): Node | null {
  if (at === segments.length) return node.routes.size ? node : null;
  const segment = segments[at] as string;
  const literal = node.literals.get(segment);
  const found = literal && descend(literal, segments, at + 1, values);
  if (found) return found;
  for (const { suffix, node: next } of node.placeholders) {
    if (!segment.endsWith(suffix) || segment.length === suffix.length) continue;
    const value = decode(segment.slice(0, segment.length - suffix.length));
    if (value === null) continue;
    values.push(value);
    const deeper = descend(next, segments, at + 1, values);
    if (deeper) return deeper;
    values.pop();
  }
  return null;
}

function decode(segment: string): string | null {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
