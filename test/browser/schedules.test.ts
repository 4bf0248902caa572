/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { openSite } from "../support/browser.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
afterAll(site.close);

test("a schedule is created with its next times in view, changed, paused, run and deleted", async () => {
  await site.go("/schedules");
  await site.button("Create schedule").first().click();
  await page.getByLabel("Name").fill("Weekly report");
  const cron = page.getByLabel("Cron expression");
  await cron.fill("0 25 * * *");
  await page.getByRole("dialog").getByText("Invalid value for hour: 25").waitFor();
  await cron.fill("30 2 * * *");
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  const ticks = page.getByRole("list", { name: "Next times" }).getByRole("listitem");
  await settle(async () => (await ticks.count()) === 5);
  await settle(async () => /, 0[23]:[03]0 /.test((await ticks.first().textContent()) ?? ""));
  await page.getByLabel("Event type").fill("com.example.report.due");
  await page.getByLabel("Data (JSON)").fill('{"format": "pdf"}');
  await site.inDialog("Create schedule").click();
  await site.heading("Weekly report").waitFor();
  const [{ id }] = ok(await admin.get("/schedules")).schedules;
  const made = ok(await admin.get(`/schedules/${id}`));
  expect(made).toMatchObject({
    ...{ name: "Weekly report", cron: "30 2 * * *", time_zone: "Europe/Berlin", on_missed: "run_once" },
    event: { type: "com.example.report.due", data: { format: "pdf" } },
  });

  await site.button("Edit").click();
  await page.getByText("Source, missed times").click();
  await page.getByLabel("Missed times").selectOption("skip");
  await page.getByLabel("Subject").fill("weekly");
  await site.inDialog("Save").click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const changed = ok(await admin.get(`/schedules/${made.id}`));
  expect(changed).toMatchObject({ on_missed: "skip", event: { ...made.event, subject: "weekly" } });
  expect(changed.next_run_at).toBe(made.next_run_at);

  await site.button("Pause").click();
  await page.getByText("None while the schedule is paused.").waitFor();
  await site.button("Publish now").click();
  await site.heading("com.example.report.due").waitFor();
  await page.goBack();
  await page.locator("dd", { hasText: "event" }).first().waitFor();
  await site.button("Resume").click();
  await settle(async () => (await ticks.count()) === 5);
  await site.button("Delete").click();
  await site.inDialog("Delete schedule").click();
  await page.getByText("No schedules yet").waitFor();
});

test("a schedule for one time is shown until it has ended", async () => {
  await site.go("/schedules?create=1");
  await page.getByLabel("Name").fill("Launch");
  await page.getByText("Once", { exact: true }).click();
  const soon = new Date(Date.now() + 10_000);
  const local = new Date(soon.getTime() - soon.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
  await page.getByLabel("Time", { exact: true }).fill(local);
  await page.getByLabel("Event type").fill("com.example.launch");
  await site.inDialog("Create schedule").click();
  await site.heading("Launch").waitFor();
  await page.getByText("its last time is over").waitFor();
  const { events } = ok(await admin.get("/events?type=com.example.launch"));
  expect(events).toHaveLength(1);
});

test("an event is published later, and cancelled while it waits", async () => {
  await site.go("/events?publish=1");
  await site.field("Type").fill("com.example.later");
  await page.getByLabel("Deliver at").fill("2099-01-01T09:00");
  await site.inDialog("Publish").click();
  await page.getByRole("dialog").getByText("at most 366 days ahead").waitFor();
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  await page.getByLabel("Deliver at").fill(tomorrow);
  await site.inDialog("Publish").click();
  await site.heading("com.example.later").waitFor();
  await page.locator(".badge", { hasText: "Waiting" }).waitFor();
  await site.go("/events?waiting=1");
  await page.getByRole("link", { name: "com.example.later" }).click();
  await site.button("Cancel event").click();
  await site.inDialog("Cancel event").click();
  await site.heading("Events").waitFor();
  expect(ok(await admin.get("/events?waiting=true")).events).toEqual([]);
});

test("no page had problems or requested another host", () => expect(site.problems).toEqual([]));
