import { readFileSync } from "node:fs";
import { join } from "node:path";

/** An entry of a lock file. */
export interface Locked {
  version: string;
  integrity?: string;
  resolved?: string;
  license?: string;
  link?: boolean;
  optional?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

/** Returns the packages of a folder's lock file, by their paths in it. */
export function lockIn(folder: string): Record<string, Locked> {
  return JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
}

/**
 * Returns the path of what these packages are and depend on, as npm installs it.
 *
 * @param from path of the package that names them; "" is the root
 * @throws Error if the lock file lacks one that is required
 */
export function closure(lock: Record<string, Locked>, names: string[], from = ""): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string, isOptional: boolean) => {
    const path = resolveIn(lock, name, from);
    if (!path && !isOptional)
      throw new Error(`package-lock.json has no ${name}, which ${from || "it"} needs`);
    if (!path || found.has(path)) return;
    found.add(path);
    const {
      dependencies,
      optionalDependencies,
      peerDependencies = {},
      peerDependenciesMeta,
    } = lock[path] as Locked;
    const peers = Object.keys(peerDependencies).filter((each) => !peerDependenciesMeta?.[each]?.optional);
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }).concat(peers))
      visit(each, path, !!optionalDependencies?.[each]);
  };
  for (const name of names) visit(name, from, false);
  return [...found].sort();
}

/** Looks in the `node_modules` of the package, then in those of the folders above it, as Node does. */
function resolveIn(lock: Record<string, Locked>, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(^|\/)[^/]+$/, "")) {
    const path = folder ? `${folder}/node_modules/${name}` : `node_modules/${name}`;
    if (lock[path]) return path;
    if (!folder) return undefined;
  }
}
