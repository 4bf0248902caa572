import { expect, test } from "@jest/globals";
import { plain } from "../../packages/console/src/ui/plain.ts";

test.each([
  [
    "# Deploy\n\nRun **all** of `npm test`, then [tag](https://a.co).",
    "Deploy Run all of npm test, then tag.",
  ],
  ["Before:\n\n1. Call\n2. Wait\n   - an hour", "Before: • Call • Wait • an hour"],
  ["- [ ] an alert\n- [x] more room", "• an alert • more room"],
  ["| step | who |\n|---|---|\n| tag | ops |", "step who tag ops"],
  [
    "> ~~gone~~ ![the plan](https://example.com/plan.png)\n\n```ts\nconst a = 2 ** 3;\n```",
    "gone the plan const a = 2 ** 3;",
  ],
])("%j says what it says without its marks", (markdown, said) => expect(plain(markdown)).toBe(said));

test.each([["snake_case_name is 2 * 3 * 4"], ["**"], ["<b>AT&T</b>"], ["日本語のメモ"], [""]])(
  "%j stays as it is: there is no mark in it",
  (text) => expect(plain(text)).toBe(text),
);

test("of a long text the beginning is enough", () => {
  const long = plain("**word** ".repeat(100_000));
  expect(long).toMatch(/^word word word/);
  expect(long.length).toBeLessThan(1000);
});
