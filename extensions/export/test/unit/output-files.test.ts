import { describe, expect, test } from "@jest/globals";
import { marked } from "marked";
import { read } from "../../../../services/work/outputs/render/read.ts";
import { toBlocks } from "../../blocks.ts";
import { byLevel, detectDirection } from "../../direction.ts";
import { breakLines, type Piece, type Placed } from "../../pdf-lines.ts";

const piece = (text: string, font = "plain"): Piece => ({
  ...{ text, font, thickened: false, slanted: false, strike: false, href: null },
});

/** Lines of text in which each character is 1 wide, as they are seen. */
function seen(text: string, width: number, ...more: string[]): string[] {
  const pieces = [text, ...more].map((each, n) => piece(each, `font ${n}`));
  const lines = breakLines(pieces, width, (_, part) => part.length);
  const shown = ({ text: part, level }: Placed) => (level & 1 ? [...part].reverse().join("") : part);
  return lines.map((line) => line.pieces.map(shown).join(""));
}

describe("lines", () => {
  test("end between words, without the space", () => {
    expect(seen("the quick  brown fox", 10)).toEqual(["the quick", "brown fox"]);
    expect(seen("", 10)).toEqual([""]);
    expect(seen("one\n\n  two", 10)).toEqual(["one", "", "  two"]);
  });

  test("end within a word that is too long for any", () => {
    expect(seen("see abcdefghijklmnop!", 6)).toEqual(["see", "abcdef", "ghijkl", "mnop!"]);
    const family = "👨‍👩‍👧";
    expect(seen(family.repeat(2), family.length)).toEqual([family, family]);
  });

  test("go over the borders of pieces", () =>
    expect(seen("one t", 7, "wo th", "ree")).toEqual(["one two", "three"]));

  test("end between words that have no spaces between them, and never before a sign that closes", () => {
    for (const text of [
      ...[
        "我们今天讨论发布计划，然后开始测试。",
        "今日は会議があります。「発表」をしましょう！",
        "สวัสดีครับยินดีต้อนรับ",
      ],
    ]) {
      const lines = seen(text, 6);
      expect(lines.join("")).toBe(text);
      expect(lines.length).toBeGreaterThan(2);
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(6);
        expect(line).not.toMatch(/^[，。」！]|「$/);
      }
    }
  });
});

describe("what runs from right to left", () => {
  const HEBREW = "אבג";

  test("stands in the order it is seen; its font turns its letters round", () => {
    const [line] = breakLines([piece(`${HEBREW} דהו 12 (זח) end`)], 100, (_, part) => part.length);
    expect(line?.isRightToLeft).toBe(true);
    expect(line?.pieces.map(({ text, level }) => [text.trim(), level & 1])).toEqual([
      ["end", 0],
      // Each goes to its font in the order it is read, with its brackets turned.
      [")זח(", 1],
      ["12", 0],
      [`${HEBREW} דהו`, 1],
    ]);
  });

  test("stands within what runs from left to right", () => {
    expect(seen(`say ${HEBREW} 5 now`, 100)).toEqual(["say 5 גבא now"]);
    const text = `a ${HEBREW} b`;
    const parts = [...byLevel(text, detectDirection(text).levels)].map(String);
    expect(parts).toEqual(["a ,0", `${HEBREW},1`, " b,0"]);
  });
});

const headings = (markdown: string, title: string) =>
  toBlocks(read(markdown, title)).flatMap((block) =>
    block.kind === "heading" ? [`${block.depth} ${block.runs.map(({ text }) => text).join("")}`] : [],
  );

test.each([
  ["the text's own heading", "# Plan *A*\n\nWe go.\n\n## Then\n", "Plan A", ["1 Plan A", "2 Then"]],
  ["the text's first words", "We go.\n", "We go.", []],
  ["the heading behind a byte order mark", "\ufeff# Plan\n", "Plan", ["1 Plan"]],
  ["another than the text's", "# One\n\n## Two\n", "A & <b>", ["1 A & <b>", "2 One", "3 Two"]],
  ["the title of a text without headings", "We go.\n", "Plan", ["1 Plan"]],
])("the title of a file stands in it once: %s", (_, markdown, title, expected) =>
  expect(headings(markdown, title)).toEqual(expected),
);

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
