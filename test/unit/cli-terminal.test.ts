import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { COMMANDS as OPERATORS } from "../../bin/admin/commands.ts";
import { candidates } from "../../bin/admin/typed.ts";
import { safe } from "../../packages/client/cli/colour.ts";
import type { Command } from "../../packages/client/cli/command.ts";
import { COMMANDS } from "../../packages/client/cli/commands.ts";
import { helpFor, overview } from "../../packages/client/cli/help.ts";
import { type Column, formatTable } from "../../packages/client/cli/table.ts";

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

test.each([60, 80, 100])("help of %d columns is no wider, and loses no word", (width) => {
  const words = (text: string) => safe(text).split(/\s+/);
  const name = "interest update";
  for (const help of [overview, (to?: number) => helpFor(name, COMMANDS[name] as Command, to)]) {
    expect(words(help(width))).toEqual(words(help()));
    const tooLong = safe(help(width))
      .split("\n")
      .filter((line) => line.length > width && line.trim().includes("  "));
    expect(tooLong).toEqual([]);
  }
});

test("a table fits the terminal: ids stay whole, and each column keeps some room", () => {
  const row = {
    ...{ id: `evt_${"1".repeat(22)}`, type: "com.example.".repeat(6), subject: "a subject that says much" },
  };
  const columns = [
    ["ID", ({ id }) => id],
    ["TYPE", ({ type }) => type, () => "green"],
    ["SUBJECT", ({ subject }) => subject],
  ] as Column<typeof row>[];
  const [, line = ""] = safe(formatTable([row], columns, 100)).split("\n");
  expect(line.length).toBeLessThanOrEqual(100);
  expect(line).toBe(`${row.id}  ${row.type.slice(0, 45)}…  ${row.subject}`);
  expect(safe(formatTable([row], columns, 60)).split("\n")[1]).toMatch(
    /^evt_1{22} {2}com\.ex\S+… {2}a subj.+…$/,
  );
  expect(safe(formatTable([row], columns)).split("\n")[1]).toBe(Object.values(row).join("  "));
});

test.each([
  [["ten"], ["tenants"]],
  [["tenants", "cr"], ["create"]],
  [["tenants", "create", "--sl"], ["--slug"]],
  [["nothing", ""], []],
])("in the operator's command line %j is completed", (words, expected) =>
  expect(candidates(words, OPERATORS)).toEqual(expected),
);
