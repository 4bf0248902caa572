import { expect, test } from "@jest/globals";
import { guardedWrite } from "../../storage/writes.ts";

test("a write that somebody else was before is decided again on what they left", async () => {
  const row = { version: 1, others: 2 };
  const written = await guardedWrite(async () => {
    const { version } = row;
    if (row.others-- > 0) row.version++;
    return row.version === version ? { version: ++row.version } : null;
  }, "refused");
  expect(written).toEqual({ version: 4 });
});

test("who is never first is refused", async () => {
  const never = guardedWrite(async () => null, "Try again.", "run_1");
  await expect(never).rejects.toMatchObject({
    ...{ type: "conflict", message: "Try again." },
    data: { existing_resource_id: "run_1" },
  });
});
