import { globSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** What is found by the names of its files: the package must have all of them, whatever imports them. */
export const KINDS = ["contract", "model", "service"] as const;

/**
 * Loads all modules of the core of a kind: `contract` are those in files named `*.contract.ts`, by the names of their folders, a
 * folder's namesake first. In the package files have no types.
 */
export async function modulesNamed(kind: (typeof KINDS)[number]): Promise<object[]> {
  const orderOf = (file: string) => {
    const folder = basename(dirname(file));
    return basename(file).startsWith(`${folder}.`) ? folder : `${folder}/${basename(file)}`;
  };
  const files = globSync(`{services,storage}/**/*.${kind}.{ts,js}`, { cwd: ROOT });
  const modules: object[] = [];
  for (const file of files.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)))
    modules.push(await import(`../${file}`));
  return modules;
}
