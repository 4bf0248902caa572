import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "@jest/globals";

const ROOT = join(import.meta.dirname, "../../packages/console/src");
const sources = new Map(
  globSync("**/*.{ts,tsx,css}", { cwd: ROOT }).map((file) => [file, readFileSync(join(ROOT, file), "utf8")]),
);

/** Returns the style sheets that are loaded with a module: its own, and those of what it imports, not lazily. */
function sheetsOf(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, path = ""] of (sources.get(file) ?? "").matchAll(/^(?:import|export|\}) .*?"(\.[^"]+)";$/gm))
    sheetsOf(join(dirname(file), path), seen);
  return seen;
}

/** Returns the classes that a module names as such. */
function classesIn(text: string): string[] {
  return [...text.matchAll(/className=(?:"([^"]*)"|\{([^}]*)\})/g)].flatMap(([, plain, code]) =>
    plain === undefined
      ? [...(code as string).matchAll(/(?<!=== )["`]([^"`$]*)/g)].flatMap(([, words = ""]) =>
          words.split(" "),
        )
      : plain.split(" "),
  );
}

const definedIn = Map.groupBy(
  [...sources]
    .filter(([file]) => file.endsWith(".css"))
    .flatMap(([file, text]) =>
      [...text.matchAll(/^ *\.([a-z][\w-]*)/gm)].map(([, name]) => ({ name, file })),
    ),
  ({ name }) => name,
);

/** Files that are loaded together: the frame, and each page with it. */
function entries(): string[][] {
  const frame = sheetsOf("main.tsx");
  const pages = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/import\("(\.[^"]+)"\)/g)].map(([, path = ""]) => join(dirname(file), path)),
  );
  return [[...frame], ...pages.map((page) => [...new Set([...frame, ...sheetsOf(page)])])];
}

test("every page loads the style sheets of its classes, whichever was opened first", () => {
  const missing = entries().flatMap((loaded) =>
    loaded.flatMap((file) =>
      classesIn(sources.get(file) ?? "")
        .filter((name) => definedIn.get(name)?.every((each) => !loaded.includes(each.file)))
        .map((name) => `${file}: ${name} is defined in ${definedIn.get(name)?.[0]?.file}`),
    ),
  );
  expect(entries().length).toBeGreaterThan(20);
  expect(definedIn.size).toBeGreaterThan(100);
  expect([...new Set(missing)]).toEqual([]);
});
