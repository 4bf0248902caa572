import { describe, expect, test } from "@jest/globals";
import { referencePages } from "../../docs/generate/pages.ts";
import { rowsOf, typeOf } from "../../docs/generate/schema.ts";
import { operations } from "../../services/contracts.ts";

const pages = referencePages();

test("every operation has a section on the page of its domain", () => {
  for (const { action, summary, method, url } of operations) {
    const page = pages[`${action.split(".")[0]}.md`] ?? "";
    expect([action, page.includes(`\n## ${summary}\n`)]).toEqual([action, true]);
    expect(page).toMatch(new RegExp(`^(.* or )?\`${method} (/v1)?${RegExp.escape(url)}\``, "m"));
  }
});

test("what a page links to on itself is there", () => {
  for (const [name, text] of Object.entries(pages)) {
    const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      (heading as string)
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    );
    const linked = [...text.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor as string);
    expect([name, linked.filter((anchor) => !anchors.includes(anchor))]).toEqual([name, []]);
    expect([name, new Set(anchors).size]).toEqual([name, anchors.length]);
  }
});

describe("a type in words", () => {
  test.each([
    [{ type: "integer", minimum: 1, maximum: 200 }, "integer, 1 to 200"],
    [{ type: "string", maxLength: 2000 }, "text, at most 2,000 characters"],
    [{ anyOf: [{ type: "string", maxLength: 9 }, { type: "null" }] }, "text, at most 9 characters, or null"],
    [{ type: "string", pattern: "^ag_[A-Za-z0-9]+$" }, "id `ag_…`"],
    [{ enum: ["a", "b"] }, "`a`, `b`"],
    [{ type: "array", items: { $ref: "#/components/schemas/Agent" } }, "list of [Agent](#agent)"],
    [{ type: "object", additionalProperties: { type: "number" } }, "map of number"],
  ])("%j", (schema, words) => expect(typeOf(schema)).toBe(words));

  test("objects within objects have their fields under dotted names", () => {
    const inner = { type: "object", properties: { b: { type: "boolean", default: false } } };
    const rows = rowsOf({
      ...{ type: "object", required: ["a"], properties: { a: { type: "array", items: inner } } },
    });
    expect(rows).toEqual(["| `a` | list of object |  |", "| `a[].b?` | boolean | Default `false`. |"]);
  });
});
