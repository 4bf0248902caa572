import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { marked } from "marked";
import { deriveTitle, isUuid, slugsFor, toSlug } from "../../services/work/outputs/naming.ts";
import { toBlocks } from "../../services/work/outputs/render/blocks.ts";
import { ranked } from "../../services/work/outputs/search.ts";

describe("naming", () => {
  test.each([
    ["Release notes, May!", "release-notes-may"],
    ["Ünïcode — Жук 你好", "ünïcode-жук-你好"],
    ["हिन्दी", "हिन्दी"],
    ["***", "output"],
    ["Search!", "output-search"],
    ["0199C0DE-7a11-7c3e-9f00-5a1b2c3d4e5f", "output-0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f"],
  ])("the slug of %j", (title, slug) => expect(toSlug(title)).toBe(slug));

  test.each([
    ["# One\n\n# Two", "One"],
    ["\ufeff---\r\ntitle: Settings\r\ntags: [a]\r\n---\r\nFirst words\r\n", "First words"],
    ["+++\ndraft = true\n+++\n# Plan", "Plan"],
    ["---\nWords between rules.\n---\n\nMore", "Words between rules."],
    ["Words\n\n---\n\n## *Then*", "Then"],
    ["```sh\n# no\n```\r\nUnder\r\n=====\r\n", "Under"],
    ["\n\n- just [a link](https://a.example)\n- more", "just a link"],
    ["```\n```", "Untitled"],
    ["---\n\n🦓🦒\n\nMore", "🦓🦒"],
    [`x${"🦓".repeat(300)}`, `x${"🦓".repeat(99)}`],
  ])("the title of %j", (text, title) => expect(deriveTitle(text)).toBe(title));

  test("is found in a long line in linear time", () => {
    const LONG = 524_288;
    for (const line of [
      `a${"[".repeat(LONG)}`,
      `# a${" ".repeat(LONG)}b`,
      "\n".repeat(LONG),
      "#\n".repeat(LONG / 2),
    ])
      expect(deriveTitle(line).length).toBeLessThanOrEqual(200);
  });

  test("any text has a title, and a slug that can stand in a path and is no id", () => {
    const id = "0199c0de-7a11-7c3e-9f00-5a1b2c3d4e5f";
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const title = deriveTitle(text);
        expect(title.trim()).not.toBe("");
        expect(title).not.toMatch(/[\r\n]/);
        for (const slug of slugsFor(title, id)) {
          expect(slug).toMatch(/^[\p{L}\p{M}\p{N}]+(-[\p{L}\p{M}\p{N}]+)*$/u);
          expect(slug.length).toBeLessThan(200);
          expect(isUuid(slug)).toBe(false);
        }
      }),
    );
  });
});

describe("ranking", () => {
  const found = (_id: string, score: number, superseded_by: string | null = null) => ({
    ...{ _id, score, superseded_by },
  });
  const ids = (all: ReturnType<typeof found>[]) => ranked(all).map(({ _id }) => _id);

  test("a superseded one stands below what took its place, and that below what took its own", () =>
    expect(
      ids([found("old", 0.9, "new"), found("other", 0.5), found("new", 0.2, "newest"), found("newest", 0.4)]),
    ).toEqual(["other", "newest", "new", "old"]));

  test("without its replacement it stands where it is, and a circle ends", () => {
    expect(ids([found("a", 0.1), found("old", 0.9, "gone")])).toEqual(["old", "a"]);
    expect(ids([found("a", 0.3, "b"), found("b", 0.2, "a")]).sort()).toEqual(["a", "b"]);
  });
});

test("blocks hold what a reader sees, without tags, entities and addresses that run", () => {
  const markdown =
    'A &lt;b&gt; <i title="x">tag</i> and\n[a](javascript:x) [b](https://b.example)\n\n3. three\n   > quoted\n\n<!-- no -->\n';
  expect(toBlocks(marked.lexer(markdown))).toMatchObject([
    { kind: "paragraph", indent: 0 },
    { kind: "paragraph", indent: 1, item: { marker: "3." }, runs: [{ text: "three" }] },
    { kind: "paragraph", indent: 2, runs: [{ text: "quoted" }] },
  ]);
  const [first] = toBlocks(marked.lexer(markdown));
  const runs = first?.kind === "paragraph" ? first.runs : [];
  expect(runs.map(({ text }) => text).join("")).toBe("A <b> tag and a b");
  expect(runs.filter(({ href }) => href)).toEqual([{ text: "b", href: "https://b.example" }]);
});

test("entities are read by all their names and numbers; what is none stays", () => {
  const [block] = toBlocks(
    marked.lexer("&mdash; &Auml;&auml; &frac12; &#x2192; &#8364; &unheard; AT&T; &amp;lt;"),
  );
  const runs = block?.kind === "paragraph" ? block.runs : [];
  expect(runs.map(({ text }) => text).join("")).toBe("— Ää ½ → € &unheard; AT&T; &lt;");
});

test("raw HTML keeps its lines, blocks and tables", () => {
  const shown = (markdown: string) =>
    toBlocks(marked.lexer(markdown)).map((block) =>
      block.kind === "table"
        ? block.rows.map((row) => row.map((cell) => cell.map(({ text }) => text).join("")))
        : "runs" in block && block.runs.map(({ text }) => text).join(""),
    );
  expect(shown("one<BR/>two H<sub>2</sub>O<hr>end")).toEqual(["one\ntwo H2O\nend"]);
  expect(shown("<div>Left</div><div>Right</div>\n")).toEqual(["Left", "Right"]);
  expect(shown("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>")).toEqual([
    [
      ["a", "b"],
      ["c", "d"],
    ],
  ]);
});
