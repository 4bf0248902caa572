/** @needs chromium */
import { afterAll, describe, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
afterAll(site.close);

/** An agent whose deliveries die at the first nack. */
async function newAgent(name: string): Promise<{ id: string; api: Api }> {
  const { id } = ok(await admin.post("/agents", { name, delivery_mode: "poll", retry_budget: 1 }));
  const { key } = ok(await admin.post(`/agents/${id}/keys`, { scopes: ["send", "receive"] }));
  return { id, api: api(site.server, await agentToken(site.server, key)) };
}

async function pollOne(agent: Api): Promise<{ id: string }> {
  const { deliveries } = ok(await agent.get("/delivery/poll?wait=10&limit=1"));
  return deliveries[0];
}

test("signing in signs in after a wrong password until it is signed out", async () => {
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
  await site.inDialog("Close anyway").click();
  await site.heading("made by hand").waitFor();
  await page.getByRole("tab", { name: "API keys" }).click();
  await page.getByText(`${(key as string).slice(0, 12)}`).waitFor();
  expect(await page.getByText(key as string).count()).toBe(0);
});

test("shows the signing secret of an agent whose key could not be created", async () => {
  const refused = { error: { code: "rate_limited", message: "Later.", request_id: "req_1", details: {} } };
  await page.route("**/v1/agents/*/keys", (route) => route.fulfill({ status: 409, json: refused }));
  await site.go("/agents?create=1");
  await page.getByLabel("Name").fill("without a key");
  await site.inDialog("Create agent").click();
  await page.getByText("The API key could not be created: Later. Create one under API keys.").waitFor();
  await page.getByText(/^whsec_/).waitFor();
  await page.unroute("**/v1/agents/*/keys");
  await site.inDialog("Done").click();
  await site.heading("without a key").waitFor();
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
  await site.inDialog("Deactivate").click();
  await page.getByText("in parts is inactive.").waitFor();
  expect(await page.getByLabel("Lease in seconds").inputValue()).toBe("90");
  await site.button("Save").first().click();
  await page.getByText("Saved.", { exact: true }).waitFor();
  expect(await secret.textContent()).toBe(shown);
});

test("deletes an agent that is inactive", async () => {
  const { id } = ok(await site.admin.post("/agents", { name: "retired", delivery_mode: "poll" }));
  await site.go(`/agents/${id}`);
  await site.button("Deactivate").waitFor();
  expect(await site.button("Delete").count()).toBe(0);
  await site.button("Deactivate").click();
  await site.inDialog("Deactivate").click();
  await site.button("Delete").click();
  await site.inDialog("Delete agent").click();
  await page.getByText("retired deleted.").waitFor();
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
  await page.getByLabel("Event type").fill("com.try.*");
  await page.getByLabel("Filter (CEL)").fill("data.total >");
  await site.button("Test on recent events").click();
  await page.getByLabel("Filter (CEL)").and(page.locator("[aria-invalid]")).waitFor();
  await page.getByLabel("Filter (CEL)").fill("event.event_type == 'a'");
  await site.inDialog("Add interest").click();
  await page.getByText(/Did you mean `event.type`/).waitFor();
  await page.getByLabel("Filter (CEL)").fill("totl > 100");
  await site.button("Test on recent events").click();
  await page.getByText("None of the 3 events of this type has `totl`. Did you mean `data.total`?").waitFor();
  expect(await checkPage(page, "interest-hint")).toEqual([]);
  await page.getByLabel("Filter (CEL)").fill("data.total > 100");
  await site.button("Test on recent events").click();
  await page.getByText(/Matches 1 of/).waitFor();
  expect(await page.getByText("None of the").count()).toBe(0);
  await page.getByRole("dialog").getByRole("button", { name: "Add interest" }).click();
  await page.getByRole("cell", { name: "data.total > 100" }).waitFor();
  await site.button("Add interest").click();
  await site.field("Event type").fill("com..try");
  await site.inDialog("Add interest").click();
  await page.getByText("The type `com..try` has an empty part").waitFor();
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
    await site.button("Approve device").click();
    await page.getByText("editor is connected").waitFor();
    const { api_key } = ok(await api(site.server).post("/device-codes:complete", { claim_id }));
    expect(await agentToken(site.server, api_key)).toMatch(/^ey/);
    await site.button("Close").click();
    await page.getByRole("row", { name: /editor/ }).waitFor();
  });

  test("a device that is denied at its link gets no key", async () => {
    const agent = await newAgent("refused");
    const issued = ok(await admin.post(`/agents/${agent.id}/device-code`, {}));
    expect(issued.verification_uri_complete).toBe(`${site.server.root}/connect?code=${issued.user_code}`);
    const claim_id = await claim(issued.user_code);
    await page.goto(issued.verification_uri_complete);
    await page.getByText("A device wants to act as refused").waitFor();
    await site.button("Deny").click();
    await page.getByRole("heading", { name: "Denied" }).waitFor();
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
  await page.getByText("1 acknowledged, 0 pending, 0 dead-lettered").waitFor();
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
  await page.getByRole("button", { name: "com.die.now" }).first().click();
  await page.getByRole("dialog").getByText("mourner").waitFor();
  await site.button("Close").click();
  await site.button(/^Replay all/).click();
  await page.getByRole("dialog").getByText("2 dead letters").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();
  await page.getByText("2 dead letters replayed.").waitFor();
  await settle(async () => ok(await agent.api.get("/delivery/poll?wait=5")).count > 0, {
    what: "the replayed events to be delivered",
  });
});

test("no page had problems or requested another host", () => expect(site.problems).toEqual([]));
