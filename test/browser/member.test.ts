/** @needs chromium */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { type Console, checkPage, openConsole, startBrowser } from "../support/browser.ts";
import { type Api, api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { ok } from "../support/tenancy.ts";

let server: TestServer;
let browser: Browser;
let console_: Console;
let page: Page;
let run: string;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  browser = await startBrowser();
  const admin: Api = api(
    server,
    ok(await api(server).post("/auth/login", server.credentials.admin)).access_token,
  );
  const { email, password } = ok(
    await admin.post("/users", { email: "member@example.com", display_name: "Mel" }),
  );
  const steps = [{ step_key: "a", title: "Do it", completion_mode: "attestation" }];
  run = ok(await admin.post("/runs", { goal: "Something", steps })).id;
  console_ = await openConsole(browser, server, { email, password });
  page = console_.page;
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

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
  await page.goto(server.root + path);
  await page.locator(".page h1").waitFor();
  await page.locator("main").getByText(says).first().waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("a member has no buttons for what only admins do", async () => {
  await page.goto(`${server.root}/settings`);
  await page.getByRole("tab", { name: "Your account" }).waitFor();
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Projects", "Limits", "Your account"]);
  expect(await page.getByRole("button", { name: "Make a project" }).count()).toBe(0);
  await page.goto(`${server.root}/memories/health`);
  await page.getByText("When they were last read").waitFor();
  expect(await page.getByRole("link", { name: "Erase for good" }).count()).toBe(0);
});

test("a member does a step of a run, and begins one with a step of their own", async () => {
  await page.goto(`${server.root}/runs/${run}`);
  await page.getByRole("button", { name: "Complete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Complete the step" }).click();
  await page.getByText("Every step is done. Close the run").waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("Mel", { exact: true }).last().waitFor();
  await page.goto(`${server.root}/runs`);
  await page.getByRole("button", { name: "Begin a run" }).first().click();
  await page.getByLabel("Goal").fill("My own");
  await page.getByLabel("One step a line").fill("Think");
  await page.getByText("Who does which step").click();
  const box = page.getByRole("combobox", { name: "Think" });
  await box.press("ArrowDown");
  await page.getByRole("option", { name: /Mel/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Begin" }).click();
  await page.getByText("Assigned to").waitFor();
}, 30_000);

test("what is withheld can be read by all, too", async () => {
  await page.goto(`${server.root}/agents`);
  await page.getByRole("note").waitFor();
  expect(await checkPage(page, "agents-of-a-member")).toEqual([]);
}, 30_000);

test("nothing went wrong on the way, and no other host was asked", () => {
  expect(console_.problems).toEqual([]);
});
