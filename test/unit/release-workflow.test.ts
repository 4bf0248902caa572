import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { releaseNotes } from "../../release/notes.ts";

interface Job {
  needs?: string | string[];
  permissions?: Record<string, string>;
  steps: { uses?: string; run?: string }[];
}

const text = readFileSync(join(import.meta.dirname, "../../.github/workflows/release.yml"), "utf8");
/** js-yaml brings no types. */
const { load } = createRequire(import.meta.url)("js-yaml") as { load(text: string): unknown };
const { jobs, permissions } = load(text) as { jobs: Record<string, Job>; permissions: object };
const all = Object.entries(jobs);
const runs = all.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));

describe("the workflow of a release", () => {
  const neededBy = (name: string): string[] => {
    const direct = [jobs[name]?.needs ?? []].flat();
    return [...direct, ...direct.flatMap(neededBy)];
  };

  test("publishes nothing that is not checked, and announces what is published", () => {
    for (const [name] of all)
      if (name !== "check") expect([name, neededBy(name)]).toEqual([name, expect.arrayContaining(["check"])]);
    expect(new Set(neededBy("notes"))).toEqual(new Set(Object.keys(jobs).filter((name) => name !== "notes")));
  });

  test("stores no secret, and runs no code of a checkout or a dependency with an identity", () => {
    expect(text).not.toMatch(/\$\{\{ *secrets\./);
    expect(permissions).toEqual({ contents: "read" });
    const identified = all.filter(([, job]) => job.permissions?.["id-token"]);
    expect(identified.map(([name]) => name).sort()).toEqual(["mcp-registry", "packages", "sign", "wheels"]);
    for (const [name, { steps }] of identified) {
      const lines = steps.map(({ uses = "", run = "" }) => `${uses} ${run}`).join("\n");
      expect([name, lines]).toEqual([
        name,
        expect.not.stringMatching(/actions\/checkout|npm (ci|install|run|exec)|node |npx /),
      ]);
    }
  });

  test("installs tools at exact versions", () => {
    const tools = runs.flatMap((run) => [...run.matchAll(/go install (\S+)/g)].map(([, tool]) => tool));
    expect(tools.length).toBeGreaterThan(1);
    for (const tool of tools) expect(tool).toMatch(/@v\d+\.\d+\.\d+$/);
    expect(runs.join("\n")).not.toMatch(/curl|wget|@latest/);
  });
});

describe("the notes of a release", () => {
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

  test.each(["1.1.0", "1.2", "1.2.1", ""])("are missing for %j, which stops the release", (version) => {
    expect(() => releaseNotes(changelog, version, DOCS)).toThrow(`has no entries under ## [${version}]`);
  });
});
