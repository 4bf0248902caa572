import { expect, test } from "@jest/globals";
import { splitText, toMrkdwn } from "../../markdown.ts";

test.each([
  ["**Refund** *now* or __later__", "*Refund* _now_ or *later*"],
  ["## Plan for May", "*Plan for May*"],
  ["# Remove `*.bak` **now**", "Remove `*.bak` *now*"],
  ["- one\n* two\n  + three", "• one\n• two\n  • three"],
  ["~~no~~ yes, 2 * 3 * 4, snake_case", "~no~ yes, 2 * 3 * 4, snake_case"],
  ["See [the bank](https://evil.example/?a=1&b=2).", "See the bank (https://evil.example/?a=1&amp;b=2)."],
  ["![](https://a.example/x.png)", "https://a.example/x.png"],
  ["<!channel> <@U1> a & b", "&lt;!channel&gt; &lt;@U1&gt; a &amp; b"],
  ["run `rm **all** <x>`", "run `rm **all** &lt;x&gt;`"],
  ["```sql\ndelete from *x*\n```\nend", "sql:\n```\ndelete from *x*\n```\nend"],
  ["```\nopen", "```\nopen\n```"],
  ["```\n``` and **drop** it\n~~~\n```\n**end**", "```\n`\u200b`\u200b` and **drop** it\n~~~\n```\n*end*"],
  ["~~~md\n```sql\ndrop\n```\n~~~~\nend", "md:\n```\n`\u200b`\u200b`sql\ndrop\n`\u200b`\u200b`\n```\nend"],
  ["````\n```\nx\n````\n# end", "```\n`\u200b`\u200b`\nx\n```\n*end*"],
])("%j becomes %j", (markdown, mrkdwn) => expect(toMrkdwn(markdown)).toEqual([mrkdwn]));

test.each([
  ["lines", "Remove the row of <order> & all of it.\n".repeat(400)],
  ["one line", "&".repeat(9000)],
  ["code", `\`\`\`\n${"drop index i; \n".repeat(500)}\`\`\`\nLAST`],
])("many %s are split, and nothing is lost", (_, markdown) => {
  const parts = toMrkdwn(markdown);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(3000);
    expect((part.match(/```/g) ?? []).length % 2).toBe(0);
  }
  const plain = (text: string) => text.replace(/[`\s]/g, "");
  const read = parts.join("").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  expect(plain(read)).toBe(plain(markdown));
});

test.each(["`", "[", "**a ", "# ", "*a "])("many %j lose nothing", (text) => {
  const markdown = `x${text.repeat(16_000 / text.length - 1)}`;
  expect(toMrkdwn(markdown).join("").replace(/\s/g, "")).toHaveLength(markdown.replace(/\s/g, "").length);
});

test("a plain text is split at its lines, a long line without halving a character", () => {
  const text = `short\n${"😀".repeat(3000)}\nend`;
  const parts = splitText(text, 1001);
  expect(parts.every((part) => part.length <= 1001 * 2 && part.isWellFormed())).toBe(true);
  expect(parts.join("").replaceAll("\n", "")).toBe(text.replaceAll("\n", ""));
});
