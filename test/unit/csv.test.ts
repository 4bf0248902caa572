import { expect, test } from "@jest/globals";
import { csvRow } from "../../services/identity/audit/audit.service.ts";

test("quotes what has a meaning in CSV, and ends rows by CRLF", () =>
  expect(csvRow(["plain", null, "a,b", 'say "hi"', "two\nlines", "it's"])).toBe(
    `plain,,"a,b","say ""hi""","two\nlines",it's\r\n`,
  ));

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1+2", "'-1+2"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["  =1", "'  =1"],
  ["\t=1", "'\t=1"],
  ["\r=1", `"'\r=1"`],
  ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
])("puts an apostrophe before %j, which a spreadsheet would run", (text, cell) =>
  expect(csvRow([text])).toBe(`${cell}\r\n`),
);

test.each(["a=1", "2026-01-31", "{}", "1 - 1"])("leaves %j as it is", (text) =>
  expect(csvRow([text])).toBe(`${text}\r\n`),
);
