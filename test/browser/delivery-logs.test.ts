/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { pollSome } from "../support/deliveries.ts";
import { newReceiver } from "../support/receiver.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent } = site;
afterAll(site.close);

const LOG =
  "\u001b[1;31mred\u001b[0m \u001b]8;;https://x.example\u0007link\u001b]8;;\u0007\r\n" +
  '<img src="x" onerror="document.title=1"> <b>bold</b>\n\u202eabc \u0000\u001b\n[ended with 65]';
const SHOWN =
  'red link\n<img src="x" onerror="document.title=1"> <b>bold</b>\n\\u202eabc \\u0000\\u001b\n[ended with 65]';

const log = (inside: ReturnType<typeof page.locator>) =>
  inside.getByRole("region", { name: "log", exact: true });

test("the log of a delivery is shown as text on the agent's page, the event's and with the dead letter", async () => {
  const { id, api } = await newReceiver(site.server, admin, "printer", { interests: ["com.printer"] });
  const publish = async (source: string) =>
    ok(await agent.post("/events", { specversion: "1.0", id: source, source, type: "com.printer" })).event_id;
  const event_id = await publish("urn:logged");
  const [{ id: delivery, lease }] = await pollSome(api, "wait=10&limit=1");
  const dead = { delivery_ids: [delivery], lease, dead_letter: true, reason: "no paper", log: LOG };
  ok(await api.post("/delivery/nack", dead));

  await site.go(`/agents/${id}?tab=deliveries`);
  await site.button("1 attempt: com.printer").click();
  const dialog = page.getByRole("dialog");
  await log(dialog).waitFor();
  expect(await log(dialog).textContent()).toBe(SHOWN);
  expect(await checkPage(page, "delivery-log")).toEqual([]);

  await site.go(`/dead-letters?letter=${delivery}`);
  await log(dialog).waitFor();
  expect(await log(dialog).textContent()).toBe(SHOWN);
  expect(await checkPage(page, "dead-letter-log")).toEqual([]);

  await site.go(`/events/${event_id}`);
  const main = page.getByRole("main");
  await main.getByText("Log", { exact: true }).click();
  await log(main).waitFor();
  expect(await log(main).textContent()).toBe(SHOWN);
  expect(await checkPage(page, "event-log")).toEqual([]);
  expect(await page.locator("b, img[src=x]").count()).toBe(0);
  expect(await page.title()).not.toBe("1");
});

test("a delivery without a log has none", async () => {
  const { id, api } = await newReceiver(site.server, admin, "silent", { interests: ["com.silent"] });
  const silent = { specversion: "1.0", id: "s", source: "urn:silent", type: "com.silent" };
  const { event_id } = ok(await agent.post("/events", silent));
  const [{ id: delivery }] = await pollSome(api, "wait=10&limit=1");
  ok(await api.post("/delivery/ack", { delivery_ids: [delivery] }));
  await site.go(`/agents/${id}?tab=deliveries`);
  await site.button("1 attempt: com.silent").click();
  await page.getByRole("dialog").getByText("Acknowledged").waitFor();
  expect(await log(page.getByRole("dialog")).count()).toBe(0);
  await site.go(`/events/${event_id}`);
  await page.getByRole("main").getByText("Log", { exact: true }).click();
  await page.getByText("No log.").waitFor();
});
