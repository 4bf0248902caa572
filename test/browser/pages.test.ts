/** @needs chromium */
import { beforeAll, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { agentToken, api } from "../support/http.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
let agent: string;
let pushed: string;
let event: string;
let channel: string;
let schedule: string;
let waiting: string;

beforeAll(furnish);

/** Names come as people and programs write them: nowhere in this one may a line end. */
const LONG = `watcher_of_${"invoices_and_orders_".repeat(7)}`;

/** One of each, so that pages have something to show. */
async function furnish(): Promise<void> {
  agent = ok(await admin.post("/agents", { name: "billing-bot", delivery_mode: "poll" })).id;
  ok(await admin.post(`/agents/${agent}/keys`, { scopes: ["send", "receive"] }));
  ok(
    await admin.post(`/agents/${agent}/interests`, {
      event_type: "com.example.*",
      filter_expression: "data.total > 1",
    }),
  );
  channel = ok(await admin.post("/channels", { name: "deployments", description: "What goes live" })).id;
  ok(await admin.post(`/channels/${channel}/feeds`, { event_type_glob: "com.github.*" }));
  ok(await admin.post(`/channels/${channel}/members`, { agent_id: agent }));
  const sent = {
    ...{ specversion: "1.0", id: "1", source: "urn:shop", type: "com.example.order", subject: "o#1" },
    data: { total: 42 },
  };
  event = ok(await admin.post("/events", sent)).event_id;
  const push = { name: "pushed-to", delivery_mode: "push", push_format: "binary" };
  pushed = ok(await admin.post("/agents", push)).id;
  const long = { name: LONG, description: `${LONG} ${LONG}` };
  const other = ok(await admin.post("/agents", { ...long, delivery_mode: "poll", retry_budget: 1 }));
  ok(await admin.post("/channels", long));
  ok(await admin.post(`/channels/${channel}/members`, { agent_id: other.id }));
  ok(
    await admin.post(`/channels/${channel}/feeds`, {
      event_type_glob: `com.${LONG}.*`,
      filter_expression: "data.total > 1 && data.total < 100000",
    }),
  );
  ok(
    await admin.post("/events", {
      ...sent,
      ...{ id: "2", type: `com.example.${LONG.slice(0, 90)}`, source: `https://${LONG}.example/a` },
    }),
  );
  await aDeadLetter(other.id);
  const due = { type: "com.example.report.due", subject: "report/weekly", data: { format: "pdf" } };
  const weekly = { name: "Weekly report", cron: "0 9 * * MON", time_zone: "Europe/Berlin", event: due };
  schedule = ok(await admin.post("/schedules", weekly)).id;
  ok(await admin.post("/schedules", { ...weekly, name: LONG, paused: true }));
  ok(await admin.post("/schedules", { name: "Launch", at: "2099-01-01T09:00:00Z", event: due }));
  const delayed = { ...sent, id: "4", notbefore: new Date(Date.now() + 86_400_000).toISOString() };
  waiting = ok(await admin.post("/events", delayed)).event_id;
}

/** Deliveries that die at the first nack. */
async function aDeadLetter(agent_id: string): Promise<void> {
  ok(await admin.post(`/agents/${agent_id}/interests`, { event_type: "com.die.*" }));
  const { key } = ok(await admin.post(`/agents/${agent_id}/keys`, { scopes: ["receive"] }));
  const receiver = api(site.server, await agentToken(site.server, key));
  ok(
    await admin.post("/events", {
      ...{ specversion: "1.0", id: "3", source: "urn:shop", type: `com.die.${LONG.slice(0, 90)}`, data: {} },
    }),
  );
  const { deliveries } = ok(await receiver.get("/delivery/poll?wait=30&limit=1"));
  ok(
    await receiver.post("/delivery/nack", {
      delivery_ids: [deliveries[0].id],
      reason: `the till is shut: ${LONG}`,
    }),
  );
}

const PAGES: [name: string, path: () => string][] = [
  ["overview", () => "/"],
  ["events", () => "/events"],
  ["event", () => `/events/${event}`],
  ["publish", () => "/events?publish=1"],
  ["agents", () => "/agents"],
  ["agent-new", () => "/agents?create=1"],
  ["agent", () => `/agents/${agent}`],
  ["agent-interests", () => `/agents/${agent}?tab=interests`],
  ["agent-why", () => `/agents/${agent}?tab=why`],
  ["operator", () => "/operator"],
  ["agent-keys", () => `/agents/${agent}?tab=keys`],
  ["agent-devices", () => `/agents/${agent}?tab=devices`],
  ["agent-delivery", () => `/agents/${agent}?tab=settings`],
  ["agent-push", () => `/agents/${pushed}?tab=settings`],
  ["connect", () => "/connect"],
  ["channels", () => "/channels"],
  ["channel", () => `/channels/${channel}`],
  ["schedules", () => "/schedules"],
  ["schedule", () => `/schedules/${schedule}`],
  ["event-waiting", () => `/events/${waiting}`],
  ["dead-letters", () => "/dead-letters"],
  ["nowhere", () => "/nowhere"],
];

test.each(PAGES)("%s can be read by all: light and dark, wide and narrow", async (name, path) => {
  await site.go(path());
  await page.locator(".page h1").waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  expect(await checkPage(page, name)).toEqual([]);
});

test("approving a device can be, too", async () => {
  const { user_code } = ok(await admin.post(`/agents/${agent}/device-code`, {}));
  const client_info = { name: "editor", version: "2.1", host: LONG.slice(0, 100) };
  ok(await api(site.server).post("/device-codes:claim", { user_code, client_info }));
  await site.go(`/connect?code=${user_code}`, "Requested scopes");
  expect(await checkPage(page, "connect-approve")).toEqual([]);
});

test("signing in can be, too", async () => {
  const context = await site.browser.newContext();
  const page = await context.newPage();
  await page.goto(site.server.root);
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  expect(await checkPage(page, "sign-in")).toEqual([]);
  await context.close();
});
