/** `node deploy/release/notes.ts v1.2.3` prints the notes of a version: its section of docs/CHANGELOG.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the section of a version, without its heading, and with links that work outside of the repository.
 *
 * @param docs address of the folder of the change log
 * @throws Error if there is no such section, or nothing in it
 */
export function releaseNotes(changelog: string, version: string, docs: string): string {
  const section = changelog.split(/^(?=## )/m).find((each) => each.startsWith(`## [${version}]`));
  const notes = section
    ?.replace(/^.*\n/, "")
    .replace(/^\[[^\]]+\]: \S+$/gm, "")
    .trim();
  if (!notes)
    throw new Error(`docs/CHANGELOG.md has no entries under ## [${version}]. Rename ## [Unreleased].`);
  return notes.replace(/\]\((?![a-z]+:)(#?)/g, (_, fragment) => `](${docs}/${fragment && "CHANGELOG.md#"}`);
}

if (import.meta.main) {
  const tag = process.argv[2] ?? "";
  const { GITHUB_SERVER_URL = "https://github.com", GITHUB_REPOSITORY = "" } = process.env;
  const changelog = readFileSync(join(import.meta.dirname, "../../docs/CHANGELOG.md"), "utf8");
  const docs = `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/blob/${tag}/docs`;
  console.log(releaseNotes(changelog, tag.replace(/^v/, ""), docs));
}
