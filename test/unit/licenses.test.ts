import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "@jest/globals";
import { thirdPartyLicenses } from "../../deploy/release/licenses.ts";
import { closure, type Locked, lockIn } from "../../deploy/release/lock.ts";
import { ownFolder } from "../support/own-folder.ts";

const ISC = "Permission to use this software is granted.";

let root: string;
let lock: Record<string, Partial<Locked>>;
beforeEach(async () => {
  root = await ownFolder();
  lock = {};
});

/** Installs a package, with a file of its license unless it is `null`. */
function install(
  path: string,
  license: unknown,
  text: string | null = ISC,
  entry: Partial<Locked> = {},
): string {
  const name = path.replace(/^.*node_modules\//, "");
  const version = entry.version ?? "1.2.3";
  mkdirSync(join(root, path), { recursive: true });
  writeFileSync(join(root, path, "package.json"), JSON.stringify({ name, version, license, author: "Ada" }));
  if (text !== null) writeFileSync(join(root, path, "LICENSE.md"), text);
  lock[path] = { ...entry, version };
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: lock }));
  return path;
}

test("each license is listed once, below the packages that have it", () => {
  const paths = [
    install("node_modules/a", "ISC"),
    install("node_modules/@b/c", "ISC"),
    install("node_modules/d", "MIT", "Mine"),
  ];
  const text = thirdPartyLicenses(root, paths);
  expect(text).toContain(`a 1.2.3 (ISC)\n@b/c 1.2.3 (ISC)\n${"=".repeat(80)}\n\n${ISC}\n`);
  expect(text.split(ISC)).toHaveLength(2);
  expect(text).toContain("d 1.2.3 (MIT)");
});

test("a package without a file gets the standard text with its author, if there is one", () => {
  const text = thirdPartyLicenses(root, [install("node_modules/a", "MIT", null)]);
  expect(text).toMatch(/Copyright \(c\) Ada\n[\s\S]*THE SOFTWARE IS PROVIDED "AS IS"/);
  expect(() => thirdPartyLicenses(root, [install("node_modules/b", "ISC", null)])).toThrow(
    "b@1.2.3 (ISC) has no file with its license",
  );
});

test.each(["(MIT OR GPL-3.0-only)", "Apache-2.0 AND BSD-3-Clause", "GPL-2.0 OR ISC"])(
  "%s is allowed",
  (license) =>
    expect(thirdPartyLicenses(root, [install("node_modules/a", license)])).toContain(`a 1.2.3 (${license})`),
);

test.each([
  ...["GPL-3.0-only", "AGPL-3.0", "LGPL-2.1-or-later", "MPL-2.0", "SSPL-1.0", "UNLICENSED"],
  ...["SEE LICENSE IN LICENSE.md", "MIT AND GPL-3.0-only", "(MIT OR ISC) AND GPL-3.0-only"],
  undefined,
  { type: "MIT" },
])("%j stops the release", (license) =>
  expect(() => thirdPartyLicenses(root, [install("node_modules/a", license)])).toThrow(
    `a@1.2.3: the license ${JSON.stringify(license)} is not allowed`,
  ),
);

test("all problems are named at once, and an installation that differs from the lock file", () => {
  const paths = [
    install("node_modules/a", "GPL-3.0-only"),
    install("node_modules/b", "SSPL-1.0"),
    install("node_modules/c", "MIT"),
  ];
  (lock["node_modules/c"] as Locked).version = "2.0.0";
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ packages: lock }));
  expect(() => thirdPartyLicenses(root, paths)).toThrow(
    /a@1\.2\.3: [\s\S]*b@1\.2\.3: [\s\S]*c@1\.2\.3 is installed, not 2\.0\.0/,
  );
});

test("dependencies are followed as npm installs them", () => {
  install("node_modules/a", "MIT", ISC, {
    ...{ dependencies: { b: "^2" }, optionalDependencies: { absent: "1" } },
    peerDependencies: { peer: "*", unwanted: "*" },
    ...{ peerDependenciesMeta: { unwanted: { optional: true } }, devDependencies: { tool: "1" } },
  });
  install("node_modules/a/node_modules/b", "MIT", ISC, {
    version: "2.0.0",
    dependencies: { c: "1", a: "1" },
  });
  for (const name of ["b", "c", "peer", "unwanted", "tool"]) install(`node_modules/${name}`, "MIT");
  install("packages/ours/node_modules/c", "MIT");
  const names = (name: string, from?: string) => closure(lockIn(root), [name], from);
  expect(names("a")).toEqual([
    ...["node_modules/a", "node_modules/a/node_modules/b", "node_modules/c", "node_modules/peer"],
  ]);
  expect(names("c", "packages/ours")).toEqual(["packages/ours/node_modules/c"]);
  expect(() => names("nothing")).toThrow("package-lock.json has no nothing");
});
