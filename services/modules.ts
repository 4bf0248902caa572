import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** Kinds of modules that are found by the names of their files: the package must have all of them, whatever imports them. */
export const KINDS = ["contract", "model", "service"] as const;

const files = ["services", "storage"].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)),
);

/**
 * Loads all modules of the core of a kind: `contract` are those in files named `*.contract.ts`, by the names of their folders, a
 * folder's namesake first. In the package files have no types.
 */
export async function modulesNamed(kind: (typeof KINDS)[number]): Promise<object[]> {
  const orderOf = (file: string) => {
    const folder = basename(dirname(file));
    return basename(file).startsWith(`${folder}.`) ? folder : `${folder}/${basename(file)}`;
  };
  const own = files.filter((file) => file.endsWith(`.${kind}.ts`) || file.endsWith(`.${kind}.js`));
  own.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  const modules: object[] = [];
  for (const file of own) modules.push(await import(`../${file}`));
  return modules;
}
