import { expect, test } from "@jest/globals";
import { safeFilename } from "../../lib/http/attachment.ts";

test.each([
  ["note.md", "note.md"],
  ["../../etc/passwd", "passwd"],
  ["C:\\Users\\ada\\plan.txt", "plan.txt"],
  ['a"b\r\nX: y.md', "a_b_X_ y.md"],
  ["...", "file"],
  ["", "file"],
  ["bill\u202efdp.md", "bill_fdp.md"],
  ["a\u009b31m.md", "a_31m.md"],
  ["über/日本.md", "日本.md"],
  [`${"x".repeat(300)}.md`, `${"x".repeat(147)}.md`],
  [`${"😀".repeat(100)}.md`, `${"😀".repeat(73)}.md`],
])("the filename %j is saved as %j", (given, safe) => expect(safeFilename(given)).toBe(safe));
