/** @needs chromium */
import { describe, expect, test } from "@jest/globals";
import { ahead } from "../support/ahead.ts";
import { checkPage } from "../support/browser.ts";
import { pollSome } from "../support/deliveries.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { newReceiver } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent: publisher } = site;

/** An agent whose deliveries die at the first nack. */
async function newAgent(name: string): Promise<{ id: string; api: Api }> {
  const { id } = ok(await admin.post("/agents", { name, delivery_mode: "poll", retry_budget: 1 }));
  const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send", "receive"] }));
  return { id, api: api(site.server, await agentToken(site.server, key)) };
}

async function pollOne(agent: Api): Promise<{ id: string }> {
  const { deliveries } = ok(await agent.get("/delivery/poll?wait=30&limit=1"));
  return deliveries[0];
}

test("types of events are listed once there are some, with ways to their events and listeners", async () => {
  await site.go("/events/types", "No event types yet");
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
  await page.getByRole("cell", { name: "1 agent", exact: true }).click();
  await site.heading("com.shop.order.[new]").waitFor();
  await page.getByRole("link", { name: "Packer" }).waitFor();
  await page.getByRole("link", { name: "Show events" }).waitFor();
  await page.reload();
  await page.getByRole("link", { name: "Open event" }).click();
  await site.heading("com.shop.order.[new]").waitFor();
});

test("signs in after a wrong password until it is signed out", async () => {
  const context = await site.browser.newContext();
  const other = await context.newPage();
  await other.goto(`${site.server.root}/agents`);
  await other.getByLabel("E-mail").fill(site.server.credentials.admin.email);
  await other.getByLabel("Password").fill("not the password");
  await other.getByRole("button", { name: "Sign in" }).click();
  await other
    .getByRole("alert")
    .getByText(/e-mail or password is incorrect/)
    .waitFor();
  await other.getByLabel("Password").fill(site.server.credentials.admin.password);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  await other.reload();
  await other.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
  const signedIn = await context.cookies();
  expect(signedIn.map(({ name }) => name).sort()).toEqual(["sensorium_device", "sensorium_session"]);
  expect(signedIn.every(({ httpOnly, sameSite }) => httpOnly && sameSite === "Strict")).toBe(true);
  await other.getByRole("button", { name: "Sign out" }).click();
  await other.getByText("You are signed out.").waitFor();
  // The remaining cookie is no credential: it keeps failed logins by others from locking this browser out.
  expect((await context.cookies()).map(({ name }) => name)).toEqual(["sensorium_device"]);
  await context.close();
});

test("a new agent's key is shown once", async () => {
  await site.go("/agents");
  await site.button("Create agent").click();
  await page.getByLabel("Name").fill("made by hand");
  await site.inDialog("Create agent").click();
  const key = await page.getByText(/^ak_live_/).textContent();
  expect(await agentToken(site.server, key as string)).toMatch(/^ey/);
  await site.inDialog("Done").click();
  await site.confirm("Close anyway", site.heading("made by hand"));
  await page.getByRole("tab", { name: "API keys" }).click();
  await page.getByText(`${(key as string).slice(0, 12)}`).waitFor();
  expect(await page.getByText(key as string).count()).toBe(0);
});

test("shows the signing secret of an agent whose key could not be created", async () => {
  const refused = { error: { code: "rate_limited", message: "Later.", request_id: "req_1", details: {} } };
  await page.route("**/v1/agents/*/keys", (route) => route.fulfill({ status: 409, json: refused }));
  await site.go("/agents?create=1");
  await page.getByLabel("Name").fill("without a key");
  await site.confirm("Create agent", "The API key could not be created: Later. Create one under API keys.");
  await page.getByText(/^whsec_/).waitFor();
  await page.unroute("**/v1/agents/*/keys");
  await site.confirm("Done", site.heading("without a key"));
});

test("saving one section of an agent's settings keeps the other sections", async () => {
  const { id } = ok(await site.admin.post("/agents", { name: "in parts", delivery_mode: "poll" }));
  await site.go(`/agents/${id}?tab=settings`);
  await site.button("Rotate secret").click();
  await site.inDialog("Rotate secret").click();
  const secret = page.getByText(/^whsec_/);
  const shown = await secret.textContent();
  await page.getByLabel("Lease in seconds").fill("90");
  await site.button("Deactivate").click();
  await site.confirm("Deactivate", "in parts is inactive.");
  expect(await page.getByLabel("Lease in seconds").inputValue()).toBe("90");
  await site.button("Save").first().click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect(await secret.textContent()).toBe(shown);
});

test("deletes an agent that is inactive", async () => {
  const { id } = ok(await site.admin.post("/agents", { name: "retired", delivery_mode: "poll" }));
  await site.go(`/agents/${id}`, site.button("Deactivate"));
  expect(await site.button("Delete").count()).toBe(0);
  await site.button("Deactivate").click();
  await site.inDialog("Deactivate").click();
  await site.button("Delete").click();
  await site.confirm("Delete agent", "retired deleted.");
  await site.heading("Agents").waitFor();
  expect((await site.admin.get(`/agents/${id}`)).status).toBe(404);
});

test("copies a secret without a clipboard API, and keeps it after a click outside", async () => {
  const context = await site.browser.newContext({ storageState: await page.context().storageState() });
  // As the browser has it on pages over plain HTTP of another host.
  await context.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
  const other = await context.newPage();
  await other.goto(`${site.server.root}/agents?create=1`);
  await other.getByLabel("Name").fill("copied");
  await other.mouse.click(5, 400);
  await other.getByRole("dialog").getByRole("button", { name: "Create agent" }).click();
  const key = await other.getByText(/^ak_live_/).textContent();
  await other.mouse.click(5, 400);
  await other.getByRole("button", { name: "Copy API key" }).click();
  await other.getByRole("button", { name: "Copied" }).and(other.locator(":focus")).waitFor();
  await other.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  await other.getByRole("tab", { name: "Settings" }).click();
  await other.getByLabel("Description").fill("");
  await other.keyboard.press("ControlOrMeta+V");
  expect(await other.getByLabel("Description").inputValue()).toBe(key);
  await context.close();
});

test("an interest is tried on the last events before it is saved", async () => {
  const agent = await newAgent("trier");
  for (const total of [1, 2, 300])
    ok(
      await agent.api.post("/events", {
        ...{ specversion: "1.0", id: `try-${total}`, source: "urn:t", type: "com.try.order" },
        data: { total },
      }),
    );
  await site.go(`/agents/${agent.id}?tab=interests`);
  await site.button("Add interest").click();
  await site.fill({ "Event type": "com.try.*", "Filter (CEL)": "data.total >" });
  await site.button("Test on recent events").click();
  await page.getByLabel("Filter (CEL)").and(page.locator("[aria-invalid]")).waitFor();
  await page.getByLabel("Filter (CEL)").fill("event.event_type == 'a'");
  await site.confirm("Add interest", page.getByText(/Did you mean `event.type`/));
  await page.getByLabel("Filter (CEL)").fill("totl > 100");
  await site.button("Test on recent events").click();
  await page.getByText("None of the 3 events of this type has `totl`. Did you mean `data.total`?").waitFor();
  expect(await checkPage(page, "interest-hint")).toEqual([]);
  await page.getByLabel("Filter (CEL)").fill("data.total > 100");
  await site.press("Test on recent events", page.getByText(/Matches 1 of/));
  expect(await page.getByText("None of the").count()).toBe(0);
  await page.getByRole("dialog").getByRole("button", { name: "Add interest" }).click();
  await page.getByRole("cell", { name: "data.total > 100" }).waitFor();
  await site.button("Add interest").click();
  await site.field("Event type").fill("com..try");
  await site.confirm("Add interest", "The type `com..try` has an empty part");
  expect(ok(await admin.get(`/agents/${agent.id}/interests`)).total).toBe(2);
});

describe("connecting a device", () => {
  const CLIENT = { name: "editor", version: "2.1", host: "ada-laptop" };

  /** From the code in the console to the device's own key. */
  async function claim(user_code: string): Promise<string> {
    return ok(await api(site.server).post("/device-codes:claim", { user_code, client_info: CLIENT }))
      .claim_id;
  }

  test("shows the code and the device, and issues a key after approval", async () => {
    const agent = await newAgent("connected");
    await site.go(`/agents/${agent.id}?tab=devices`);
    await site.button("Create device code").click();
    const code = await page.locator(".user-code code").textContent();
    const claim_id = await claim(code as string);
    await page.getByText("A device wants to act as connected").waitFor();
    await page.getByText("ada-laptop").waitFor();
    await site.press("Approve device", "editor is connected");
    const { api_key } = ok(await api(site.server).post("/device-codes:complete", { claim_id }));
    expect(await agentToken(site.server, api_key)).toMatch(/^ey/);
    await site.press("Close", page.getByRole("row", { name: /editor/ }));
  });

  test("a device that is denied at its link gets no key", async () => {
    const agent = await newAgent("refused");
    const issued = ok(await admin.post(`/agents/${agent.id}/device-code`, {}));
    expect(issued.verification_uri_complete).toBe(`${site.server.root}/connect?code=${issued.user_code}`);
    const claim_id = await claim(issued.user_code);
    await page.goto(issued.verification_uri_complete);
    await page.getByText("A device wants to act as refused").waitFor();
    await site.press("Deny", page.getByRole("heading", { name: "Denied" }));
    expect((await api(site.server).post("/device-codes:complete", { claim_id })).status).toBe(404);
  });
});

test("publishes an event and shows its timeline up to the acknowledgement, with the matching interest", async () => {
  const agent = await newAgent("follower");
  ok(
    await admin.post(`/agents/${agent.id}/interests`, {
      event_type: "com.follow.*",
      filter_expression: "data.n == 7",
    }),
  );
  await site.go("/events");
  await site.button("Publish event").first().click();
  await site.field("Type").fill("com.follow.me");
  await page.getByLabel("Data (JSON)").fill('{"n": 7}');
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await site.heading("com.follow.me").waitFor();
  await page.getByText("data.n == 7").waitFor();
  const { id } = await pollOne(agent.api);
  ok(await agent.api.post("/delivery/ack", { delivery_ids: [id] }));
  // Nobody reloads: the page follows by itself.
  await page.getByText("Acknowledged", { exact: true }).first().waitFor();
  await page.getByText("0 dead-lettered, 0 pending, 1 acknowledged").waitFor();
});

test("groups dead letters by reason, and previews a replay before running it", async () => {
  const agent = await newAgent("mourner");
  ok(await admin.post(`/agents/${agent.id}/interests`, { event_type: "com.die.*" }));
  for (const n of [1, 2])
    ok(
      await agent.api.post("/events", {
        ...{ specversion: "1.0", id: `die-${n}`, source: "urn:t", type: "com.die.now", data: { n } },
      }),
    );
  for (const _ of [1, 2]) {
    const { id } = await pollOne(agent.api);
    ok(await agent.api.post("/delivery/nack", { delivery_ids: [id], reason: "the till is shut" }));
  }
  await site.go("/dead-letters");
  await site
    .button(/the till is shut/)
    .first()
    .waitFor();
  await page.getByRole("cell", { name: "the till is shut" }).first().click();
  await page.getByRole("dialog").getByText("mourner").waitFor();
  await site.button("Close").click();
  await site.press(/^Replay all/, page.getByRole("dialog").getByText("2 dead letters"));
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("2 dead letters replayed.").waitFor();
  await settle(async () => ok(await agent.api.get("/delivery/poll?wait=5")).count > 0, {
    what: "the replayed events to be delivered",
  });
});

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
    ok(await publisher.post("/events", { specversion: "1.0", id: source, source, type: "com.printer" }))
      .event_id;
  const event_id = await publish("urn:logged");
  const [{ id: delivery, lease }] = await pollSome(api, "limit=1");
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
  const { event_id } = ok(await publisher.post("/events", silent));
  const [{ id: delivery }] = await pollSome(api, "limit=1");
  ok(await api.post("/delivery/ack", { delivery_ids: [delivery] }));
  await site.go(`/agents/${id}?tab=deliveries`);
  await site.press("1 attempt: com.silent", page.getByRole("dialog").getByText("Acknowledged"));
  expect(await log(page.getByRole("dialog")).count()).toBe(0);
  await site.go(`/events/${event_id}`);
  await page.getByRole("main").getByText("Log", { exact: true }).click();
  await page.getByText("No log.").waitFor();
});

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
  await site.fill({ "Event type": "com.example.report.due", "Data (JSON)": '{"format": "pdf"}' });
  await site.confirm("Create schedule", site.heading("Weekly report"));
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

  await site.press("Pause", "None while the schedule is paused.");
  await site.press("Publish now", site.heading("com.example.report.due"));
  await page.goBack();
  await page.locator("dd", { hasText: "event" }).first().waitFor();
  await site.button("Resume").click();
  await settle(async () => (await ticks.count()) === 5);
  await site.button("Delete").click();
  await site.confirm("Delete schedule", "No schedules yet");
});

test("a schedule for one time is shown until it has ended", async () => {
  await ahead(10_000, async (at) => {
    await site.go("/schedules?create=1");
    await page.getByLabel("Name").fill("Launch");
    await page.getByText("Once", { exact: true }).click();
    const offset = new Date(at).getTimezoneOffset() * 60_000;
    const local = new Date(Date.parse(at) - offset).toISOString().slice(0, 19);
    await page.getByLabel("Time", { exact: true }).fill(local);
    await page.getByLabel("Event type").fill("com.example.launch");
    await site.confirm("Create schedule", site.heading("Launch"));
  });
  await page.getByText("its last time is over").waitFor();
  const { events } = ok(await admin.get("/events?type=com.example.launch"));
  expect(events).not.toEqual([]);
});

test("an event is published later, and cancelled while it waits", async () => {
  await site.go("/events?publish=1");
  await site.field("Type").fill("com.example.later");
  await page.getByLabel("Deliver at").fill("2099-01-01T09:00");
  await site.confirm("Publish", page.getByRole("dialog").getByText("at most 366 days ahead"));
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
  await page.getByLabel("Deliver at").fill(tomorrow);
  await site.confirm("Publish", site.heading("com.example.later"));
  await page.locator(".badge", { hasText: "Waiting" }).waitFor();
  await site.go("/events?waiting=1");
  await page.getByRole("link", { name: "com.example.later" }).click();
  await site.button("Cancel event").click();
  await site.confirm("Cancel event", site.heading("Events"));
  expect(ok(await admin.get("/events?waiting=true")).events).toEqual([]);
});
