import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { COMMANDS as OPERATORS } from "../../bin/admin/commands.ts";
import { candidates } from "../../bin/admin/typed.ts";
import { safe } from "../../packages/client/cli/colour.ts";

const CLI = join(import.meta.dirname, "../../packages/client/cli");

test.each([
  ["\u001b]52;c;ZXZpbA==\u0007", "\\u001b]52;c;ZXZpbA==\\u0007"],
  ["one\ntwo\tthree\r\nfour", "one\ntwo\tthree\nfour"],
  ["over\rwritten\b", "over\\u000dwritten\\u0008"],
  ["\u009b2J\u0085\u007f\u0000", "\\u009b2J\\u0085\\u007f\\u0000"],
  ["txt\u202eexe\u2066", "txt\\u202eexe\\u2066"],
  ["Zoë 日本 אב\u200f 😀\u200d", "Zoë 日本 אב\u200f 😀\u200d"],
])("%j is written as %j", (text, written) => expect(safe(text)).toBe(written));

test("JSON stays the same JSON", () => {
  const value = { name: "\u001b[31m\u009b\u202e\u007f", list: ["\r\n\t"] };
  expect(JSON.parse(safe(JSON.stringify(value, null, 2)))).toEqual(value);
});

/** Files, and the protocol of the bridge. */
const OTHERS = ["api.ts", "mcp.ts"];

test("every other output of the command line goes through it", () => {
  const files = readdirSync(CLI, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  expect(files).toContain("telling.ts");
  const direct = files.filter((file) =>
    /(stdout|stderr)\.write\(|console\./.test(readFileSync(join(CLI, file), "utf8")),
  );
  expect(direct.toSorted()).toEqual(OTHERS);
});

test.each([
  [["ten"], ["tenants"]],
  [["tenants", "cr"], ["create"]],
  [["tenants", "create", "--sl"], ["--slug"]],
  [["nothing", ""], []],
])("in the operator's command line %j is completed", (words, expected) =>
  expect(candidates(words, OPERATORS)).toEqual(expected),
);
