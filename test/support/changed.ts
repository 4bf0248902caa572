import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";

/** Which tests belong to a folder, besides those that import from it: the first row that fits, by the path's beginning. */
const BELONGS: [folder: RegExp, tests: (match: RegExpExecArray) => RegExp][] = [
  // Files of test/http are named after the domain, in the plural or the singular: memories, memory-erasure.
  [
    /^services\/\w+\/(\w+)\//,
    ([, domain = ""]) => new RegExp(`^test/http/(${nounsOf(domain).join("|")})[.-]`),
  ],
  [/^storage\//, () => /^test\/store\./],
  [/^connectors\/amqp/, () => /^test\/brokers\//],
  [/^packages\/client\/cli\//, () => /^test\/http\/cli|^packages\/client\//],
  [/^packages\/client\//, () => /^test\/http\/client|^packages\/client\//],
  [/^packages\/console\//, () => /^test\/browser\/|^packages\/console\//],
  [/^packages\/python\//, () => /^test\/python\//],
  [/^packages\/(integrations\/)?([\w-]+)\//, ([folder]) => new RegExp(`^${folder}`)],
  [/^docs\/guides\//, () => /^test\/guides\/in-order/],
  [/^docs\/examples\//, () => /^test\/examples/],
  [/^(docs\/|\w+\.md$)/, () => /^test\/unit\/(docs|prose)\./],
];

/** Returns the test files that belong to what differs from `main`, and to what is not committed. */
export function testsOfChanges(root: string, tests: string[]): string[] {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\n").filter(Boolean);
  const [base = "HEAD"] = git("merge-base", "HEAD", mainOf(git));
  const changed = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
  return testsOf(changed, root, tests);
}

/** @param changed paths of files, deleted ones too */
export function testsOf(changed: string[], root: string, tests: string[]): string[] {
  const patterns = changed.flatMap((file) => {
    for (const [folder, belonging] of BELONGS) {
      const match = folder.exec(file);
      if (match) return [belonging(match)];
    }
    return [];
  });
  const files = new Set(changed);
  return tests.filter(
    (test) => patterns.some((pattern) => pattern.test(test)) || importsOneOf(files, test, root),
  );
}

function mainOf(git: (...args: string[]) => string[]): string {
  const branches = git(
    "for-each-ref",
    "--format=%(refname:short)",
    "refs/heads/main",
    "refs/remotes/origin/main",
  );
  return branches.at(-1) ?? "HEAD";
}

function nounsOf(domain: string): string[] {
  return [domain, domain.replace(/ies$/, "y").replace(/s$/, "")];
}

/** Follows relative imports; those of shared helpers lead to much, and what they need is needed by the test. */
function importsOneOf(
  files: ReadonlySet<string>,
  test: string,
  root: string,
  seen = new Set<string>(),
): boolean {
  if (files.has(test)) return true;
  if (seen.has(test) || !existsSync(join(root, test))) return false;
  seen.add(test);
  return importsIn(test, root).some((file) => importsOneOf(files, file, root, seen));
}

const known = new Map<string, string[]>();

function importsIn(file: string, root: string): string[] {
  const before = known.get(file);
  if (before) return before;
  const isSource = /\.(ts|tsx|js|mjs)$/.test(basename(file));
  const text = isSource ? readFileSync(join(root, file), "utf8") : "";
  const imports = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path = ""]) =>
    relative(root, join(root, dirname(file), path)),
  );
  known.set(file, imports);
  return imports;
}
