/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { ok } from "../support/tenancy.ts";

let run: string;

const site = await openSite(async (admin) => {
  const steps = [{ step_key: "a", title: "Do it", completion_mode: "attestation" }];
  run = ok(await admin.post("/runs", { goal: "Something", steps })).id;
  return ok(await admin.post("/users", { email: "member@example.com", display_name: "Mel" }));
});
const { page } = site;
afterAll(site.close);

/** What a member sees of what is for admins: words, never an error. */
const PAGES: [path: string, says: RegExp][] = [
  ["/", /Only admins see all events/],
  ["/events", /What you published/],
  ["/agents", /for the admins of your organisation/],
  ["/channels", /No channels yet/],
  ["/dead-letters", /seen by the agent they were for, and by admins/],
  ["/ingest", /seen and changed by the organisation’s admins/],
  ["/memories", /Nothing is remembered yet|Remember/],
  ["/memories/health", /When they were last read/],
  ["/memories/erase", /seen and changed by the organisation’s admins/],
  ["/memories/merges", /No open proposals/],
  ["/documents", /No documents yet/],
  ["/runs", /Something/],
  ["/templates", /No templates yet/],
  ["/outputs", /Nothing is saved yet/],
  ["/settings", /No projects yet/],
  ["/settings?tab=limits", /Largest event/],
  ["/settings?tab=account", /Change your password/],
];

test.each(PAGES)("%s tells a member what there is, and shows no error", async (path, says) => {
  await site.go(path);
  await page.locator(".page h1").waitFor();
  await page.locator("main").getByText(says).first().waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("a member has no buttons for what only admins do", async () => {
  await site.go("/settings");
  await page.getByRole("tab", { name: "Your account" }).waitFor();
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Projects", "Limits", "Your account"]);
  expect(await page.getByRole("button", { name: "Make a project" }).count()).toBe(0);
  await site.go("/memories/health");
  await page.getByText("When they were last read").waitFor();
  expect(await page.getByRole("link", { name: "Erase for good" }).count()).toBe(0);
});

test("a member does a step of a run, and begins one with a step of their own", async () => {
  await site.go(`/runs/${run}`);
  await page.getByRole("button", { name: "Complete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Complete the step" }).click();
  await page.getByText("Every step is done. Close the run").waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("Mel", { exact: true }).last().waitFor();
  await site.go("/runs");
  await page.getByRole("button", { name: "Begin a run" }).first().click();
  await page.getByLabel("Goal").fill("My own");
  await page.getByLabel("One step a line").fill("Think");
  await page.getByText("Who does which step").click();
  const box = page.getByRole("combobox", { name: "Think" });
  await box.press("ArrowDown");
  await page.getByRole("option", { name: /Mel/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Begin" }).click();
  await page.getByText("Assigned to").waitFor();
});

test("what is withheld can be read by all, too", async () => {
  await site.go("/agents");
  await page.getByRole("note").waitFor();
  expect(await checkPage(page, "agents-of-a-member")).toEqual([]);
});

test("nothing went wrong on the way, and no other host was asked", () => {
  expect(site.problems).toEqual([]);
});
