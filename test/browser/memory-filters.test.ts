/** @needs chromium */
import { expect, test } from "@jest/globals";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;

const remember = async (title: string, metadata: object) => {
  const content = `An invoice: ${title}.`;
  ok(await admin.post("/memories", { title, content, type: "semantic", scope: "institutional", metadata }));
};
const titles = () => page.locator(".memory-title").allTextContents();
const shown = (...expected: string[]) =>
  settle(async () => (await titles()).toSorted().join() === expected.join(), { what: expected.join() });

test("memories are filtered by subject and metadata, in the address, with a chip for each condition", async () => {
  await remember("A", { subject: "acme", amount: 50, state: "open" });
  await remember("B", { subject: "acme", amount: 150, state: "late" });
  await remember("C", { subject: "globex", amount: 250, state: "open" });
  await remember("D", { subject: "globex", amount: 350, state: "paid" });
  await site.go("/memories");
  await shown("A", "B", "C", "D");
  const chips = page.getByRole("list", { name: "Metadata conditions" }).getByRole("listitem");
  const field = page.getByLabel("Metadata", { exact: true });
  const add = async (condition: string) => {
    await field.fill(condition);
    await field.press("Enter");
  };

  await add("amount >= 100");
  await shown("B", "C", "D");
  await add("amount < 300");
  await shown("B", "C");
  await add("state = open, late");
  await page.getByLabel("Subject").fill("globex");
  await page.getByLabel("Subject").press("Enter");
  await shown("C");
  expect(await chips.allTextContents()).toEqual(["amount >= 100", "amount < 300", "state = open, late"]);
  expect(await field.inputValue()).toBe("");
  await page.reload();
  await shown("C");

  // The search by meaning has the same filters.
  await page.getByLabel("Search memories").fill("invoice");
  await site.press("Search", page.getByRole("list", { name: "Results" }));
  await shown("C");
  await site.button("Clear query").click();

  await page.getByLabel("Subject").fill("");
  await page.getByLabel("Subject").press("Enter");
  await shown("B", "C");
  await site.button("Remove amount < 300").click();
  await shown("B", "C");
  await site.button("Remove state = open, late").click();
  await shown("B", "C", "D");
  await add("amount is 5");
  await page.getByText(/^Write a key/).waitFor();
  await site.button("Remove amount >= 100").click();
  await shown("A", "B", "C", "D");
  expect(await chips.count()).toBe(0);
});
