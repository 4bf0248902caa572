import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lockIn } from "./lock.ts";

/** Licenses that ask for no more than their text, and of fonts the OFL. All others stop the release. */
const ALLOWED = new Set(
  "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause Bitstream-Vera BlueOak-1.0.0 CC0-1.0 ISC MIT MIT-0 OFL-1.1 Unlicense".split(
    " ",
  ),
);

/** Licenses that the manifest of a package does not name, read in its files. */
const READ: Record<string, string> = {
  "png-js@2.0.0": "MIT",
  "dejavu-fonts-ttf@2.37.3": "Bitstream-Vera",
};

/** Names of files with a license, or with notices that it requires. */
const LICENSE_FILE = /licen[cs]e|^copying|^notice/i;

/**
 * Returns the text of THIRD_PARTY_LICENSES: each license once, below the packages that are under it.
 *
 * @param root folder with the lock file and the installed packages
 * @param paths of packages in the lock file
 * @throws Error that names each package whose license is unknown, not allowed or without a text
 */
export function thirdPartyLicenses(root: string, paths: string[]): string {
  const lock = lockIn(root);
  const packages = new Map<string, string[]>();
  const problems: string[] = [];
  for (const path of paths) {
    const { optional, license: said } = lock[path] ?? {};
    // Of another platform: its text is that of the one that is installed here.
    if (optional && !existsSync(join(root, path))) {
      if (!isAllowed(said)) problems.push(`${path}: the license ${JSON.stringify(said)} is not allowed`);
      continue;
    }
    const manifest = JSON.parse(readFileSync(join(root, path, "package.json"), "utf8"));
    const title = `${manifest.name}@${manifest.version}`;
    const license = READ[title] ?? manifest.license;
    const text = readLicense(join(root, path), license, manifest);
    if (manifest.version !== lock[path]?.version)
      problems.push(`${title} is installed, not ${lock[path]?.version}`);
    else if (!isAllowed(license))
      problems.push(`${title}: the license ${JSON.stringify(license)} is not allowed`);
    else if (!text) problems.push(`${title} (${license}) has no file with its license`);
    else
      packages.set(text, [
        ...(packages.get(text) ?? []),
        `${manifest.name} ${manifest.version} (${license})`,
      ]);
  }
  if (problems.length > 0) throw new Error(`THIRD_PARTY_LICENSES:\n  ${problems.join("\n  ")}`);
  const rule = "=".repeat(80);
  const parts = [...packages].map(
    ([text, titles]) => `${rule}\n${[...new Set(titles)].join("\n")}\n${rule}\n\n${text}\n`,
  );
  return [
    "Packages by others that this package contains or depends on, each with its license.\n",
    ...parts,
  ].join("\n");
}

/** True for an SPDX expression that can be met by allowed licenses. Nested parentheses are not understood. */
function isAllowed(license: unknown): boolean {
  if (typeof license !== "string") return false;
  const alternatives = license.replace(/^\(([^()]*)\)$/, "$1").split(" OR ");
  return alternatives.some((all) => all.split(" AND ").every((id) => ALLOWED.has(id)));
}

/** The files of the package, or the standard text with its author. */
function readLicense(
  folder: string,
  license: string,
  { name, author }: { name: string; author?: unknown },
): string {
  const files = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && LICENSE_FILE.test(entry.name) && !/\.[cm]?[jt]s$/.test(entry.name),
  );
  if (files.length > 0)
    return files
      .map((file) => readFileSync(join(folder, file.name), "utf8").replaceAll("\r\n", "\n").trim())
      .join("\n\n");
  const standard = join(import.meta.dirname, `licenses/${license}.txt`);
  if (!existsSync(standard)) return "";
  const holder =
    (typeof author === "string" ? author : (author as { name?: string })?.name) ?? `The authors of ${name}`;
  return readFileSync(standard, "utf8").replace("<copyright holders>", holder).trim();
}
