/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { openSite } from "../support/browser.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
afterAll(site.close);

test("types of events are listed once there are some, with ways to their events and listeners", async () => {
  await site.go("/events/types");
  await page.getByText("No event types yet").waitFor();
  const current = page.getByRole("navigation", { name: "Console" }).locator("[aria-current=page]");
  expect(await current.allInnerTexts()).toEqual(["Event types"]);

  const agent = ok(await admin.post("/agents", { name: "Packer", delivery_mode: "poll" }));
  ok(await admin.post(`/agents/${agent.id}/interests`, { event_type: "com.shop.order.*" }));
  let id = 0;
  const publish = async (type: string) =>
    ok(
      await admin.post("/events", { specversion: "1.0", id: `${++id}`, source: "/shop", type, data: { id } }),
    );
  await publish("com.shop.order.[new]");
  await publish("com.shop.order.[new]");
  await publish("com.shop.refund");
  await page.reload();
  const rows = page.getByRole("row");
  await rows.nth(2).waitFor();
  expect(await rows.nth(1).textContent()).toMatch(/com\.shop\.refund\/shopNobody1/);
  expect(await rows.nth(2).textContent()).toMatch(/com\.shop\.order\.\[new\]\/shop1 agent2/);

  await page.getByRole("link", { name: "2 events of com.shop.order.[new]" }).click();
  await site.heading("Events").waitFor();
  await rows.nth(2).waitFor();
  expect(await page.getByRole("cell", { name: "com.shop.order.[new]" }).count()).toBe(2);
  await page.goBack();

  await page.getByLabel("Search event types").fill("order");
  await page.waitForURL("**/events/types?q=order");
  await page.getByRole("link", { name: "1 agent", exact: true }).click();
  await site.heading("com.shop.order.[new]").waitFor();
  await page.getByRole("link", { name: "Packer" }).waitFor();
  await page.getByRole("link", { name: "Show events" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Open event" }).click();
  await site.heading("com.shop.order.[new]").waitFor();
});
