/** @needs chromium */
import { expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;

const PROPOSALS = "/memories/merge-proposals";
const TEXT = "The staging database is wiped every night at two.";

async function remember(title: string, content: string, more: object = {}): Promise<string> {
  const memory = { title, content, type: "semantic", scope: "institutional", ...more };
  return ok(await admin.post("/memories", memory)).id;
}

async function propose(memory_a_id: string, memory_b_id: string): Promise<string> {
  return ok(await admin.post(PROPOSALS, { memory_a_id, memory_b_id })).id;
}

const statusOf = async (id: string) => ok(await admin.get(`/memories/${id}`)).status;
const open = async () => ok(await admin.get(`${PROPOSALS}?status=open`)).total as number;

test("all exact duplicates are merged in one go, into the newest copy", async () => {
  const copies: string[] = [];
  for (let copy = 0; copy < 3; copy++) copies.push(await remember("Staging", TEXT));
  // The service finds them by itself: two pairs connect three.
  await settle(async () => (await open()) === 2);
  await site.go("/memories/merges");
  await site.button("Merge exact duplicates").click();
  await site.confirm("Merge 2 pairs", "Merged 2 of 2.");
  await site.confirm("Done", "No open proposals");
  expect(await Promise.all(copies.map(statusOf))).toEqual(["merged", "merged", "active"]);
});

test("selected pairs are merged, and a refused one is reported by its row", async () => {
  const [a, b] = [await remember("Office Rome", "Opens at nine."), await remember("Rome", "Nine o'clock.")];
  const [c, d] = [await remember("Coffee", "On Fridays."), await remember("Machine", "Cleaned weekly.")];
  await propose(a, b);
  const refused = await propose(c, d);
  await site.go("/memories/merges");
  await page.getByRole("checkbox", { name: "Select all shown" }).check();
  await page.getByText("2 selected").waitFor();
  expect(await checkPage(page, "merges-selected")).toEqual([]);
  await site.press("Merge selected", page.getByText("2 of 2 differ in their text.", { exact: false }));
  // Meanwhile somebody decides one of them.
  ok(await admin.post(`${PROPOSALS}/${refused}/reject`, {}));
  await site.confirm("Merge 2 pairs", "Merged 1 of 2. 1 failed:");
  const failed = page.getByRole("list", { name: "Failed" });
  await failed.getByRole("link", { name: /Coffee|Machine/ }).waitFor();
  await failed.getByText("already rejected", { exact: false }).waitFor();
  await site.inDialog("Done").click();
  expect(await Promise.all([a, b, c, d].map(statusOf))).toEqual(["merged", "active", "active", "active"]);
});

test("selected pairs are rejected", async () => {
  const [a, b] = [await remember("Tea", "At four."), await remember("Tea time", "Afternoon.")];
  await propose(a, b);
  await site.go("/memories/merges", page.getByRole("link", { name: /Tea time/ }));
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await site.button("Reject selected").click();
  await site.confirm("Reject 1 pair", "Rejected 1 of 1.");
  await site.confirm("Done", "No open proposals");
});

test("a memory that is written is compared with what is known", async () => {
  await site.go("/memories");
  await site.button("Create memory").click();
  await page.getByLabel("Title").fill("Staging reset");
  await page.getByLabel("Content").fill("The staging database gets wiped each night at two.");
  const hint = page.getByRole("dialog").getByRole("link", { name: "Staging" });
  await hint.waitFor();
  await site.fill({ Title: "Kitchen", Content: "The coffee machine makes strange noises on Mondays." });
  await hint.waitFor({ state: "detached" });
});

test("a confidence is shown if somebody stated one", async () => {
  const stated = await remember("Stated", "With a confidence.", { confidence: 0.9 });
  const unstated = await remember("Unstated", "Without one.");
  const fact = page.getByText("Confidence", { exact: true });
  await site.go(`/memories/${stated}`);
  await fact.waitFor();
  await site.go(`/memories/${unstated}`, page.getByText("Importance", { exact: true }));
  expect(await fact.count()).toBe(0);
});

test("the explanation of a search names every candidate", async () => {
  await site.go("/memories?q=staging+database+coffee");
  const scores = page.getByRole("region", { name: "Candidate scores" });
  await scores.getByRole("row").nth(2).waitFor();
  const names = await scores.getByRole("rowheader").allInnerTexts();
  for (const name of names) expect(name).not.toMatch(/[0-9a-f]{8}/);
  expect(await checkPage(page, "explained")).toEqual([]);
});
