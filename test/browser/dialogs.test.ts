/** @needs chromium */
import { beforeAll, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
const ids: Record<string, string> = {};

beforeAll(furnish);

/** One of each that has dialogs on its page. */
async function furnish(): Promise<void> {
  ids.agent = ok(await admin.post("/agents", { name: "billing-bot", delivery_mode: "poll" })).id;
  ids.channel = ok(await admin.post("/channels", { name: "deployments" })).id;
  const memory = { title: "ACME's terms", content: "30 days", type: "semantic", scope: "institutional" };
  ids.memory = ok(await admin.post("/memories", memory)).id;
  const steps = [{ step_key: "dig", title: "Dig", completion_mode: "attestation" }];
  ids.run = ok(await admin.post("/runs", { goal: "A hole", steps })).id;
  ids.output = ok(await admin.post("/outputs", { body: "# Notes\n", scope: "institutional" })).id;
  ok(await admin.post("/projects", { key: "apollo" }));
  const event = { type: "com.example.due" };
  ids.schedule = ok(await admin.post("/schedules", { name: "daily", cron: "@daily", event })).id;
  const webhook = { name: "Slack", source: "slack", mapping: "slack" };
  ids.webhook = ok(await admin.post("/ingest/webhooks", webhook)).id;
}

const DIALOGS: [name: string, path: () => string, button: string][] = [
  ["key-new", () => `/agents/${ids.agent}?tab=keys`, "Create key"],
  ["interest-new", () => `/agents/${ids.agent}?tab=interests`, "Add interest"],
  ["device-connect", () => `/agents/${ids.agent}?tab=devices`, "Create device code"],
  ["agent-deactivate", () => `/agents/${ids.agent}`, "Deactivate"],
  ["channel-new", () => "/channels", "Create channel"],
  ["channel-edit", () => `/channels/${ids.channel}`, "Edit"],
  ["feed-new", () => `/channels/${ids.channel}`, "Add feed"],
  ["member-new", () => `/channels/${ids.channel}`, "Add member"],
  ["schedule-new", () => "/schedules", "Create schedule"],
  ["schedule-edit", () => `/schedules/${ids.schedule}`, "Edit"],
  ["webhook-new", () => "/ingest", "Add webhook"],
  ["webhook-rotate", () => `/ingest/webhooks/${ids.webhook}`, "Rotate secret"],
  ["connector-new", () => "/ingest?tab=connectors", "Add connector"],
  ["remember", () => "/memories", "Create memory"],
  ["memory-edit", () => `/memories/${ids.memory}`, "Edit"],
  ["run-begin", () => "/runs", "Create run"],
  ["step-assign", () => `/runs/${ids.run}`, "Assign"],
  ["step-skip", () => `/runs/${ids.run}`, "Skip"],
  ["step-complete", () => `/runs/${ids.run}`, "Complete"],
  ["run-close", () => `/runs/${ids.run}`, "Close run"],
  ["output-save", () => "/outputs", "Create output"],
  ["output-version", () => `/outputs/${ids.output}`, "Create version"],
  ["person-invite", () => "/settings", "Invite person"],
  ["team-new", () => "/settings?tab=teams", "Create team"],
  ["project-new", () => "/settings?tab=projects", "Create project"],
];

test.each(DIALOGS)(
  "%s can be read by all; Escape closes it and gives the focus back",
  async (name, path, button) => {
    await site.go(path());
    const opener = page.getByRole("button", { name: button, exact: true }).first();
    await opener.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await checkPage(page, `dialog-${name}`)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await opener.and(page.locator(":focus")).waitFor();
  },
);

test("Escape asks for confirmation before it discards text in a dialog", async () => {
  await site.go("/outputs");
  await site.button("Create output").first().click();
  const text = page.getByRole("textbox", { name: "Text" });
  await text.fill("# A long letter");
  await page.keyboard.press("Escape");
  const asked = page.getByRole("dialog", { name: "Close without saving?" });
  await asked.getByRole("button", { name: "Cancel" }).click();
  await asked.waitFor({ state: "detached" });
  expect(await text.inputValue()).toBe("# A long letter");
  await page.keyboard.press("Escape");
  await asked.getByRole("button", { name: "Discard" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
});
