import { expect, test } from "@jest/globals";
import { releaseNotes } from "../../deploy/release/notes.ts";

const DOCS = "https://example.org/a/b/blob/v1.2.0/docs";
const changelog = `# Changelog

## [Unreleased]

- Later.

## [1.2.0] - 2026-01-02

### Added

- A [guide](guides/move.md#steps), see [above](#changelog) and [there](https://example.com/x).

## [1.1.0] - 2025-12-01

## [1.1.0-rc.1] - 2025-11-01

- First.

[1.2.0]: https://example.com
`;

test("are the section of the version, with links that work elsewhere", () => {
  expect(releaseNotes(changelog, "1.2.0", DOCS)).toBe(
    `### Added\n\n- A [guide](${DOCS}/guides/move.md#steps), see [above](${DOCS}/CHANGELOG.md#changelog) and [there](https://example.com/x).`,
  );
  expect(releaseNotes(changelog, "1.1.0-rc.1", DOCS)).toBe("- First.");
});

test.each(["1.1.0", "1.2", "1.2.1", ""])("are missing for %j, which stops the release", (version) =>
  expect(() => releaseNotes(changelog, version, DOCS)).toThrow(`has no entries under ## [${version}]`),
);
