/** @needs chromium */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { type Console, openConsole, startBrowser } from "../support/browser.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

let server: TestServer;
let browser: Browser;
let console_: Console;
let page: Page;
let admin: Api;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  browser = await startBrowser();
  console_ = await openConsole(browser, server);
  page = console_.page;
  const { access_token } = ok(await api(server).post("/auth/login", server.credentials.admin));
  admin = api(server, access_token);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const go = (path: string) => page.goto(server.root + path);
const button = (name: string | RegExp) => page.getByRole("button", { name });
const heading = (name: string) => page.getByRole("heading", { name, level: 1 });

/** An agent whose deliveries die at the first nack. */
async function newAgent(name: string): Promise<{ id: string; api: Api }> {
  const { id } = ok(await admin.post("/agents", { name, delivery_mode: "poll", retry_budget: 1 }));
  const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send", "receive"] }));
  return { id, api: api(server, await agentToken(server, key)) };
}

async function pollOne(agent: Api): Promise<{ id: string }> {
  const { deliveries } = ok(await agent.get("/delivery/poll?wait=10&limit=1"));
  return deliveries[0];
}

describe("signing in", () => {
  test("a wrong password says so and lets one try again; reloading keeps the session; signing out ends it", async () => {
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.goto(`${server.root}/agents`);
    await other.getByLabel("E-mail").fill(server.credentials.admin.email);
    await other.getByLabel("Password").fill("not the password");
    await other.getByRole("button", { name: "Sign in" }).click();
    await other
      .getByRole("alert")
      .getByText(/e-mail or the password is wrong/)
      .waitFor();
    await other.getByLabel("Password").fill(server.credentials.admin.password);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await other.reload();
    await other.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    await other.getByRole("button", { name: "Sign out" }).click();
    await other.getByText("You are signed out.").waitFor();
    expect(await context.cookies()).toEqual([]);
    await context.close();
  });
});

test("a new agent's key is shown once", async () => {
  await go("/agents");
  await button("New agent").click();
  await page.getByLabel("Name").fill("made by hand");
  await button("Make agent").click();
  const key = await page.getByText(/^ak_live_/).textContent();
  expect(await agentToken(server, key as string)).toMatch(/^ey/);
  await button("I have kept them").click();
  await heading("made by hand").waitFor();
  await page.getByRole("tab", { name: "API keys" }).click();
  await page.getByText(`${(key as string).slice(0, 12)}`).waitFor();
  expect(await page.getByText(key as string).count()).toBe(0);
});

test("an interest is tried on the last events before it is saved", async () => {
  const agent = await newAgent("trier");
  for (const total of [1, 2, 300])
    ok(
      await agent.api.post("/events", {
        specversion: "1.0",
        id: `try-${total}`,
        source: "urn:t",
        type: "com.try.order",
        data: { total },
      }),
    );
  await go(`/agents/${agent.id}`);
  await button("Add interest").click();
  await page.getByLabel("Event type").fill("com.try.*");
  await page.getByLabel("Filter (CEL)").fill("data.total >");
  await button("Try on the last events").click();
  await page.getByLabel("Filter (CEL)").and(page.locator("[aria-invalid]")).waitFor();
  await page.getByLabel("Filter (CEL)").fill("data.total > 100");
  await button("Try on the last events").click();
  await page.getByText(/matches 1 of/).waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Add interest" }).click();
  await page.getByRole("cell", { name: "data.total > 100" }).waitFor();
  expect(ok(await admin.get(`/agents/${agent.id}/interests`)).total).toBe(1);
});

describe("connecting a device", () => {
  const CLIENT = { name: "editor", version: "2.1", host: "ada-laptop" };

  /** From the code in the console to the device's own key. */
  async function claim(user_code: string): Promise<string> {
    return ok(await api(server).post("/device-codes:claim", { user_code, client_info: CLIENT })).claim_id;
  }

  test("the code, who asks, approval, and a key for the device", async () => {
    const agent = await newAgent("connected");
    await go(`/agents/${agent.id}?tab=devices`);
    await button("Connect a device").click();
    const code = await page.locator(".user-code code").textContent();
    const claim_id = await claim(code as string);
    await page.getByText("A device asks to act as connected").waitFor();
    await page.getByText("ada-laptop").waitFor();
    await button("Approve this device").click();
    await page.getByText("editor is connected").waitFor();
    const { api_key } = ok(await api(server).post("/device-codes:complete", { claim_id }));
    expect(await agentToken(server, api_key)).toMatch(/^ey/);
    await button("Close").click();
    await page.getByRole("row", { name: /editor/ }).waitFor();
  });

  test("the link that the device shows leads to who asks; denied, it gets nothing", async () => {
    const agent = await newAgent("refused");
    const issued = ok(await admin.post(`/agents/${agent.id}/device-code`, {}));
    expect(issued.verification_uri_complete).toBe(`${server.root}/connect?code=${issued.user_code}`);
    const claim_id = await claim(issued.user_code);
    await page.goto(issued.verification_uri_complete);
    await page.getByText("A device asks to act as refused").waitFor();
    await button("Deny").click();
    await page.getByRole("heading", { name: "Denied" }).waitFor();
    expect((await api(server).post("/device-codes:complete", { claim_id })).status).toBe(404);
  });
});

test("an event is published and its timeline followed to the acknowledgement, with why it was given", async () => {
  const agent = await newAgent("follower");
  ok(
    await admin.post(`/agents/${agent.id}/interests`, {
      event_type: "com.follow.*",
      filter_expression: "data.n == 7",
    }),
  );
  await go("/events");
  await button("Publish event").click();
  await page.getByLabel("Type").last().fill("com.follow.me");
  await page.getByLabel("Data (JSON)").fill('{"n": 7}');
  await page.getByRole("dialog").getByRole("button", { name: "Publish" }).click();
  await heading("com.follow.me").waitFor();
  await page.getByText("data.n == 7").waitFor();
  const { id } = await pollOne(agent.api);
  ok(await agent.api.post("/delivery/ack", { delivery_ids: [id] }));
  // Nobody reloads: the page follows by itself.
  await page.getByText("Acknowledged", { exact: true }).waitFor();
  await page.getByText("1 acknowledged, 0 pending, 0 dead").waitFor();
});

test("dead letters are grouped by reason; a replay is told before it is done, and done", async () => {
  const agent = await newAgent("mourner");
  ok(await admin.post(`/agents/${agent.id}/interests`, { event_type: "com.die.*" }));
  for (const n of [1, 2])
    ok(
      await agent.api.post("/events", {
        specversion: "1.0",
        id: `die-${n}`,
        source: "urn:t",
        type: "com.die.now",
        data: { n },
      }),
    );
  for (const _ of [1, 2]) {
    const { id } = await pollOne(agent.api);
    ok(await agent.api.post("/delivery/nack", { delivery_ids: [id], reason: "the till is shut" }));
  }
  await go("/dead-letters");
  await button(/the till is shut/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "com.die.now" }).first().click();
  await page.getByRole("dialog").getByText("mourner").waitFor();
  await button("Close").click();
  await button(/^Replay all/).click();
  await page.getByRole("dialog").getByText("2 dead letters").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("2 dead letters replayed.").waitFor();
  const delivered = await settle(async () => ok(await agent.api.get("/delivery/poll?wait=5")).deliveries, {
    what: "the replayed come again",
  });
  expect(delivered.length).toBeGreaterThan(0);
});

test("nothing was wrong on any page, and no other host was asked", () => {
  expect(console_.problems).toEqual([]);
});
