import { describe, expect, test } from "@jest/globals";
import { lint } from "../../docs/prose/lint.ts";
import { entries } from "../../docs/prose/vocabulary.ts";

const messages = async (text: string, file: string) =>
  (await lint(text, file)).map((finding) => finding.replace(/^.*?: /, ""));

test.each(entries.map((entry) => [entry.bad, entry] as const))(
  "the vocabulary: %s",
  async (bad, { say, why, good }) => {
    const [finding, ...more] = await messages(bad, "bad.md");
    expect(finding).toContain(`: say ${say} (${why})`);
    expect(more).toEqual([]);
    expect(await messages(good, "good.md")).toEqual([]);
  },
);

describe("Markdown", () => {
  test("is read paragraph by paragraph, with lists and tables", async () => {
    const text =
      "# Utilized\n\nThe filter is given\nout.\n\n- It is utilized.\n\n| a |\n|---|\n| utilize |\n";
    expect(await lint(text, "page.md")).toEqual([
      expect.stringMatching(/^page\.md:1:3: "Utilized": say to, before/),
      expect.stringMatching(/^page\.md:3:15: "given out": say deliver/),
      expect.stringMatching(/^page\.md:6:9: "utilized"/),
      expect.stringMatching(/^page\.md:10:3: "utilize"/),
    ]);
  });

  test("code, links' addresses and longer words are no text", async () => {
    const text = "`utilize` [it](utilize.md), utilizers, utilize-able\n\n```sh\nutilize --all\n```\n";
    expect(await lint(text, "page.md")).toEqual([]);
  });
});

describe("TypeScript", () => {
  test("every string is read, over concatenations, and placed by characters", async () => {
    const text = [
      "#!/usr/bin/env node",
      'const é = "Fälle", a = "The row is utilized.";',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the source of a template
      'const b = `The row ${é} is utilized ${"and given " + `out`}`;',
      'throw new Error("The row is given " +\n  "out.");',
    ].join("\n");
    expect(await lint(text, "code.ts")).toEqual([
      expect.stringMatching(/^code\.ts:2:36: "utilized"/),
      expect.stringMatching(/^code\.ts:3:28: "utilized"/),
      expect.stringMatching(/^code\.ts:3:44: "given out"/),
      expect.stringMatching(/^code\.ts:4:29: "given out"/),
    ]);
  });

  test("what the console shows is read", async () => {
    const text = 'export const a = <A title="It was given out.">\n  All is {b} well and utilized.\n</A>;\n';
    expect(await lint(text, "page.tsx")).toEqual([
      expect.stringMatching(/^page\.tsx:1:\d+: "given out"/),
      expect.stringMatching(/^page\.tsx:2:\d+: "utilized"/),
    ]);
  });

  test("comments, names and single words are no text", async () => {
    const text =
      '// It is utilized.\nconst utilized = { "utilize": utilize("utilize", /is utilized/), x: "a\\nb" };\n';
    expect(await lint(text, "code.ts")).toEqual([]);
  });
});
