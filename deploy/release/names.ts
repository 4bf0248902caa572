/** `node deploy/release/names.ts` fails as long as a release would publish under a name that is not registered for this project. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { manifestIn, ROOT, SERVER_PACKAGES } from "./build.ts";

/**
 * The names that are registered for this project. Anybody could own the others: nothing may tell readers to install or run
 * them by name, and no release publishes them (test/unit/docs.test.ts).
 */
const OURS = { npm: [] as string[], PyPI: [] as string[] };

/** Returns the folders of the packages on npm that are published as they are; the client is before what needs its types. */
export function publicPackages(): string[] {
  const folders = globSync("packages/{*,integrations/*}/package.json", { cwd: ROOT }).map((file) =>
    dirname(file),
  );
  return folders.filter((folder) => !manifestIn(folder).private).sort();
}

/** Returns what a release publishes under names that are not registered for this project, as `REGISTRY NAME`. */
export function foreignNames(): { registry: keyof typeof OURS; name: string }[] {
  const projects = globSync("packages/{*,integrations/*}/pyproject.toml", { cwd: ROOT }).sort();
  const names = {
    npm: [...SERVER_PACKAGES, ...publicPackages().map((folder) => manifestIn(folder).name)],
    PyPI: projects.map(
      (file) => /^name = "(.+)"$/m.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? file,
    ),
  };
  return (["npm", "PyPI"] as const).flatMap((registry) =>
    names[registry].filter((name) => !OURS[registry].includes(name)).map((name) => ({ registry, name })),
  );
}

/** Returns why no release may be published; undefined if nothing speaks against it. */
export function whyNot(): string | undefined {
  const foreign = foreignNames().map(({ registry, name }) => `${name} on ${registry}`);
  if (foreign.length === 0) return undefined;
  return `Not registered for this project: ${foreign.join(", ")}. Register each name, add it to deploy/release/names.ts, then release.`;
}

if (import.meta.main) {
  const why = whyNot();
  if (why) console.error(why);
  process.exitCode = why ? 1 : 0;
}
