import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { drainTally, tally } from "../../services/platform/usage/tally.ts";
import { Traffic } from "../../services/platform/usage/traffic.ts";
import type { Store } from "../../storage/connection.ts";
import { checkPage, openSite } from "../support/browser.ts";
import { meanwhile } from "../support/meanwhile.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const ORDER = "com.example.order.placed";
const BILL = "com.example.bill.sent";
const RETENTION = { STATS_MINUTE_RETENTION_HOURS: 48, STATS_HOUR_RETENTION_DAYS: 90 };

let site: Awaited<ReturnType<typeof openSite>>;
let billing: { id: string; name: string };

beforeAll(async () => {
  site = await openSite(undefined, {});
  billing = ok(await site.admin.post("/agents", { name: "Billing", delivery_mode: "poll" }));
  await runCommands();
  // Its script is loaded before the server goes away.
  await chart().waitFor();
  await meanwhile(site.server, count);
});
afterAll(() => site?.close());

/** Does what the three commands of a new server do: each is marked as it is done, and the chart appears. */
async function runCommands(): Promise<void> {
  const { page, admin, agent, server } = site;
  const commands = page.locator(".first-commands li");
  const done = commands.filter({ has: page.getByLabel("Done") });
  await commands.getByText("listen --count 1").waitFor();
  expect([await done.count(), await chart().count()]).toEqual([0, 0]);
  expect(await checkPage(page, "overview-new")).toEqual([]);
  ok(await admin.post(`/agents/${server.credentials.agent.id}/interests`, { event_type: ORDER }));
  await settle(async () => (await done.count()) === 1);
  ok(await agent.post("/events", { specversion: "1.0", id: "first", source: "urn:test", type: ORDER }));
  await settle(async () => (await done.count()) === 2);
  await chart().waitFor();
  const { deliveries } = ok(await agent.get("/delivery/poll?wait=30"));
  ok(await agent.post("/delivery/ack", { delivery_ids: deliveries.map(({ id }: { id: string }) => id) }));
  await settle(async () => (await commands.count()) === 0);
}

/** Counts as a node would have in the last six days: every two hours, of the last half hour every minute but for five. */
async function count(store: Store): Promise<void> {
  const { tenant_id } = site.server.credentials;
  const end = store.now();
  const ages = Array.from({ length: 12 * 6 }, (_, n) => 30 * MINUTE + n * 2 * HOUR);
  const minutes = Array.from({ length: 30 }, (_, n) => n * MINUTE).filter(
    (age) => age < 5 * MINUTE || age >= 10 * MINUTE,
  );
  let now = end;
  const traffic = new Traffic({ ...store, now: () => now }, RETENTION);
  await store.ready();
  drainTally();
  for (const age of [...ages.reverse(), ...minutes.reverse()]) {
    now = end - age;
    const many = 20 + Math.round(12 * Math.sin(age / (4 * MINUTE)));
    const of = { tenant_id, agent_id: billing.id, type: ORDER };
    tally({ tenant_id, type: ORDER }, "published", many);
    tally(of, "created", many);
    tally(of, "acknowledged", many - 3);
    tally(of, "timed", many - 3);
    tally(of, "latency_ms", 40 * (many - 3));
    tally({ tenant_id, type: BILL }, "published", 4);
    tally({ tenant_id, agent_id: site.server.credentials.agent.id, type: BILL }, "failed", 3);
    await traffic.flush();
  }
}

const chart = () => site.page.getByRole("img", { name: /^Traffic per/ });
const described = () => chart().getAttribute("aria-label");
const line = (name: string) => site.page.getByRole("figure").getByRole("button", { name });
const value = async (name: string) => {
  const text = await line(name).locator("strong").textContent();
  return Number(text?.replaceAll(",", ""));
};

/** Points at a part of the chart, from 0 at its left to 1 at its right. */
async function pointAt(part: number): Promise<void> {
  const plot = site.page.locator(".u-over");
  const { width, height } = (await plot.boundingBox()) as { width: number; height: number };
  await plot.hover({ position: { x: Math.round(part * (width - 1)), y: height / 2 } });
}

test("shows the values at the pointer, with their time, and the sums otherwise", async () => {
  const { page } = site;
  await site.go("/");
  await chart().waitFor();
  const sum = await value("Published");
  expect(sum).toBeGreaterThan(100);
  await page.getByText("per minute", { exact: true }).waitFor();
  await page.getByText("Last 15 minutes, in all").waitFor();
  await pointAt(0.05);
  await page.getByText(/^\w+ \d+, \d\d:\d\d – \d\d:\d\d$/).waitFor();
  expect(await value("Published")).toBeLessThan(sum / 5);
  expect(await value("Failed attempts")).toBe(3);
  await page.getByText("40 ms").waitFor();
  // Five minutes in which no node was running.
  await pointAt(0.5);
  await page.getByText("not recorded").waitFor();
  await page.getByRole("heading", { name: "Traffic" }).hover();
  await page.getByText("Last 15 minutes, in all").waitFor();
});

test("keys move the pointer too", async () => {
  const { page } = site;
  const slider = page.getByRole("slider", { name: "Time" });
  await slider.focus();
  await page.keyboard.press("Home");
  await page.getByText(/^\w+ \d+, \d\d:\d\d – \d\d:\d\d$/).waitFor();
  expect(await value("Failed attempts")).toBe(3);
  expect(await slider.getAttribute("aria-valuetext")).toMatch(/Failed attempts 3/);
  const published = await value("Published");
  await page.keyboard.press("ArrowRight");
  await settle(async () => (await value("Published")) !== published);
  await slider.blur();
  await page.getByText("Last 15 minutes, in all").waitFor();
});

test("the range is in the address, and its unit at the chart", async () => {
  const { page } = site;
  for (const [name, range, unit, whole] of [
    ["1 h", "1h", "per minute", "hour"],
    ["24 h", "24h", "per half an hour", "24 hours"],
    ["7 d", "7d", "per 6 hours", "7 days"],
  ] as const) {
    await page.getByText(name, { exact: true }).click();
    await page.waitForURL((url) => url.searchParams.get("range") === range);
    await page.getByRole("img", { name: `Traffic ${unit}, last ${whole}` }).waitFor();
  }
  await page.reload();
  await chart().waitFor();
  expect(await described()).toContain("per 6 hours, last 7 days");
});

test("is of one agent or type, both in the address", async () => {
  const { page } = site;
  await page.getByLabel("Event type").selectOption(BILL);
  await page.getByRole("img", { name: /Deliveries 0, .* Dead letters 0/ }).waitFor();
  await page.getByLabel("Event type").selectOption("");
  await page.getByRole("combobox", { name: "Agent" }).click();
  await page.getByRole("option", { name: "Billing" }).click();
  await page.getByRole("img", { name: /Published 0, .* Failed attempts 0/ }).waitFor();
  expect(new URL(page.url()).searchParams.get("agent")).toBe(billing.id);
  await page.getByRole("button", { name: "Clear Agent" }).click();
  await page.getByRole("img", { name: /Published [1-9]/ }).waitFor();
});

test("a line can be hidden", async () => {
  await line("Published").click();
  expect(await line("Published").getAttribute("aria-pressed")).toBe("false");
  await line("Published").click();
  expect(await line("Published").getAttribute("aria-pressed")).toBe("true");
});

test("is on the page of an agent, and follows what happens", async () => {
  await site.go(`/agents/${billing.id}?range=24h`);
  await chart().waitFor();
  expect(await value("Published")).toBe(0);
  expect(await value("Deliveries")).toBeGreaterThan(0);
  await site.go("/");
  await chart().waitFor();
  const before = await value("Published");
  ok(await site.agent.post("/events", { specversion: "1.0", id: "live", source: "urn:test", type: ORDER }));
  await settle(async () => (await value("Published")) !== before);
});

test("the overview and the agent's page are accessible, in light and dark, wide and narrow", async () => {
  await site.go("/?range=24h");
  await chart().waitFor();
  expect(await checkPage(site.page, "traffic")).toEqual([]);
  await site.go(`/agents/${billing.id}?range=1h`);
  await chart().waitFor();
  expect(await checkPage(site.page, "traffic-agent")).toEqual([]);
});

test("no page had problems", () => expect(site.problems).toEqual([]));
