/** @needs chromium */
import { describe, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { pollSome } from "../support/deliveries.ts";
import { startEndpoint } from "../support/endpoint.ts";
import { newReceiver, type Receiver, type ReceiverOptions } from "../support/receiver.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";
import { openSite } from "../support/site.ts";
import { OPERATOR_TOKEN, ok } from "../support/tenancy.ts";

const site = await openSite(undefined, await startShared("open"));
const { page, admin, agent } = site;

/** Creates an agent that receives the events `com.<name>`. */
const receiver = (name: string, options: ReceiverOptions = {}) =>
  newReceiver(site.server, admin, name, { interests: [`com.${name}`], ...options });

let events = 0;
async function publish(name: string, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const subject = `order-${i}`;
    const event = {
      ...{ specversion: "1.0", id: `e-${++events}`, source: "urn:shop", type: `com.${name}`, subject },
    };
    ok(await agent.post("/events", event));
  }
}

/** Resolves when the agent's health is in this state. */
const becomes = (id: string, state: string) =>
  settle(async () => ok(await admin.get(`/agents/${id}?include=delivery`)).delivery.state === state);

const rows = page.getByRole("region", { name: "Agents" }).locator("tbody tr");
const tile = (name: string) => page.getByRole("region", { name, exact: true }).locator(".tile-value");

describe("an agent that needs attention", () => {
  test("is the first of many in the list, with the reason and the last error", async () => {
    for (let i = 0; i < 55; i++)
      ok(await admin.post("/agents", { name: `fine ${i}`, delivery_mode: "poll" }));
    const { id, api } = await receiver("billing");
    await publish("billing", 3);
    const [{ id: delivery }] = await pollSome(api, "limit=1");
    const nack = { delivery_ids: [delivery], reason: "the database is down", delay_seconds: 900 };
    ok(await api.post("/delivery/nack", nack));
    await becomes(id, "stuck");
    // All who look share the order for a moment.
    await settle(async () => ok(await admin.get("/agents?sort=attention&limit=1")).agents[0].id === id);
    await site.go("/agents");
    await rows.first().getByRole("link", { name: "billing" }).waitFor();
    await rows.first().getByText("Stuck", { exact: true }).waitFor();
    await rows.first().getByText("nothing was acknowledged since").waitFor();
    await rows.first().getByText("the database is down").waitFor();
    await page.getByText("Needs attention (1)").click();
    await page.waitForURL("**/agents?status=attention");
    await settle(async () => (await rows.count()) === 1);
    expect(await checkPage(page, "agents-attention")).toEqual([]);
  });

  test("shows its figures, its deliveries and their attempts, and is drained", async () => {
    await site.go("/agents?status=attention");
    await rows.first().getByRole("link", { name: "billing" }).click();
    await tile("Pending").getByText("3", { exact: true }).waitFor();
    await tile("Success rate").getByText("0 %").waitFor();
    await page.getByText("Last error").waitFor();
    await page.getByText("Waiting to retry", { exact: true }).waitFor();
    await site.press("1 attempt: com.billing", page.getByRole("dialog").getByText("Rejected by the agent"));
    await page.getByRole("dialog").getByText("the database is down").waitFor();
    await page.keyboard.press("Escape");
    expect(await checkPage(page, "agent-stuck")).toEqual([]);
    await site.press("Drain 3 pending", page.getByRole("dialog").getByText("Discard 3 pending deliveries?"));
    await site.confirm("Discard 3", "3 pending deliveries discarded.");
    await tile("Pending").getByText("0", { exact: true }).waitFor();
    await page.locator(".page-head").getByText("Active", { exact: true }).waitFor();
    const { entries } = ok(await admin.get("/audit?action=deliveries.drain"));
    expect(entries[0]).toMatchObject({ actor_kind: "user", outcome: "done", details: { discarded: 3 } });
  });

  test("gets its dead letters again", async () => {
    const { id, api } = await receiver("mailer", { agent: { retry_budget: 1 } });
    await publish("mailer", 2);
    for (let died = 0; died < 2; ) {
      const delivery_ids = (await pollSome(api)).map((each) => each.id);
      died += ok(await api.post("/delivery/nack", { delivery_ids, reason: "no such mailbox" })).dead_lettered;
    }
    await becomes(id, "failing");
    await site.go(`/agents/${id}`, page.locator(".page-head").getByText("Failing"));
    await page.getByText("no such mailbox").first().waitFor();
    await site.button("Replay 2 dead letters").click();
    await site.confirm("Replay 2", "2 dead letters replayed.");
    for (let done = 0; done < 2; ) {
      const delivery_ids = (await pollSome(api)).map((each) => each.id);
      done += ok(await api.post("/delivery/ack", { delivery_ids })).acknowledged;
    }
    await tile("Dead letters").getByText("0", { exact: true }).waitFor();
    await page.locator(".page-head").getByText("Active", { exact: true }).waitFor();
  });

  test("gets past events by a replay, after they were counted", async () => {
    await publish("past", 3);
    const { id, api } = await receiver("newcomer", { interests: ["com.past", "com.none"] });
    await site.go(`/agents/${id}`);
    await site.button("Replay history").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Interest").selectOption("com.none");
    await site.inDialog("Count").click();
    await dialog.getByText("0 deliveries, of 0 matching events.").waitFor();
    await dialog.getByLabel("Interest").selectOption("com.past");
    await site.inDialog("Count").click();
    await dialog.getByText("3 deliveries, of 3 matching events.").waitFor();
    expect(await checkPage(page, "agent-replay")).toEqual([]);
    await site.confirm("Start replay", "Replay completed: 3 delivered of 3 matching");
    await tile("Pending").getByText("3", { exact: true }).waitFor();
    const delivery_ids = (await pollSome(api)).map((each) => each.id);
    expect(ok(await api.post("/delivery/ack", { delivery_ids })).acknowledged).toBe(3);
    // One that runs slowly shows its progress, and is cancelled.
    ok(
      await admin.post(`/agents/${id}/replays`, { from: "2020-01-01T00:00:00Z", again: true, per_minute: 1 }),
    );
    await page.getByText("Replay running: 1 delivered of 1 matching").waitFor();
    await site.press("Cancel replay", "Replay cancelled. Its deliveries stay.");
    await page.getByText("Replay cancelled: 1 delivered").waitFor();
    await site.button("Replay history").waitFor();
    ok(await admin.del(`/agents/${id}`));
  });

  test("has its endpoint tried again at once", async () => {
    const endpoint = await startEndpoint();
    await endpoint.stop();
    const settings = { delivery_mode: "push", delivery_endpoint: endpoint.url };
    const { id } = await receiver("pushed", { agent: settings });
    await publish("pushed", 1);
    await becomes(id, "unreachable");
    await site.go(`/agents/${id}`, "The endpoint has not been reached for");
    await endpoint.start();
    await site.button("Try now").click();
    await settle(() => endpoint.pushed[0]);
    await page.locator(".page-head").getByText("Active", { exact: true }).waitFor();
    await endpoint.stop();
  });
});

describe("a new key", () => {
  test("is not lost by Escape or by going back before it was copied", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await site.go("/agents");
    await site.button("Create agent").click();
    await page.getByLabel("Name").fill("careful");
    await site.inDialog("Create agent").click();
    const key = page.locator(".secret code").first();
    const shown = (await key.textContent()) as string;
    const leave = [() => page.keyboard.press("Escape"), () => page.evaluate("history.back()")];
    for (const attempt of leave) {
      await attempt();
      await page.getByText("Close without copying?").waitFor();
      await site.inDialog("Cancel").click();
      await page.getByText("Close without copying?").waitFor({ state: "detached" });
      expect(await key.textContent()).toBe(shown);
    }
    // A snippet with the key keeps it too.
    await site.press("Copy MCP", site.button("Copied"));
    const config = JSON.parse((await page.evaluate("navigator.clipboard.readText()")) as string);
    const { url, headers } = config.mcpServers.sensorium;
    expect({ url, headers }).toEqual({
      url: `${site.server.root}/mcp`,
      headers: { Authorization: `Bearer ${shown}` },
    });
    for (const language of ["MCP without a key", "TypeScript", "Python", "curl"]) {
      await page.getByText(language, { exact: true }).click();
      await site.button(`Copy ${language}`).waitFor();
    }
    expect(await checkPage(page, "agent-created")).toEqual([]);
    await page.keyboard.press("Escape");
    await site.heading("careful").waitFor();
  });

  test("has a name, which the list shows", async () => {
    const { id } = ok(await admin.post("/agents", { name: "named keys", delivery_mode: "poll" }));
    await site.go(`/agents/${id}?tab=keys`);
    await site.button("Create key").click();
    await page.getByRole("textbox", { name: "Name" }).fill("on the build server");
    await site.inDialog("Create key").click();
    await site.button("Copy API key").click();
    await site.confirm("Done", page.getByRole("cell", { name: "on the build server" }));
    expect(ok(await admin.get(`/agents/${id}/keys`)).keys).toMatchObject([{ name: "on the build server" }]);
  });
});

test("an interest is edited in place", async () => {
  const { id, interest_ids } = await receiver("edited");
  await site.go(`/agents/${id}?tab=interests`);
  await site.button("Edit interest com.edited").click();
  await site.fill({ "Event type": "com.edited.*", "Filter (CEL)": "data.total > 100" });
  await page.getByLabel("Priority").selectOption("9");
  await page.getByLabel("Retries after, in seconds").fill("5, 60");
  await site.confirm("Save", "Interest saved.");
  await page.getByRole("cell", { name: "data.total > 100" }).waitFor();
  expect(ok(await admin.get(`/agents/${id}/interests/${interest_ids[0]}`))).toMatchObject({
    ...{ event_type: "com.edited.*", filter_expression: "data.total > 100", priority: 9 },
    retry_delays_seconds: [5, 60],
  });
});

test("many agents with the same reason are one line of the overview, which unfolds", async () => {
  const names = ["north", "east", "south", "west"];
  const idle: Receiver[] = [];
  for (const name of names) idle.push(await receiver(name, { interests: ["com.idle"] }));
  await publish("idle", 1);
  for (const { id } of idle) await becomes(id, "stuck");
  await settle(async () => {
    const { agents } = ok(await admin.get("/agents?needs_attention=true"));
    return idle.every(({ id }) => agents.some((each: { id: string }) => each.id === id));
  });
  await site.go("/");
  const north = page.getByRole("link", { name: "north" });
  const line = page.getByText(/^4 agents have not been seen for \d/);
  await line.waitFor();
  expect(await north.isVisible()).toBe(false);
  await line.click();
  await north.waitFor();
  expect(await checkPage(page, "overview-attention")).toEqual([]);
  await north.click();
  await page.waitForURL(`**/agents/${idle[0]?.id}**`);
});

test("the operator sees what tenants use, and the nodes", async () => {
  await site.go("/operator");
  await page.getByLabel("Operator token").fill(OPERATOR_TOKEN);
  await site.button("Continue").click();
  await page
    .getByRole("region", { name: "Usage" })
    .locator("tbody tr")
    .getByText(site.server.credentials.tenant_slug)
    .waitFor();
  expect(await checkPage(page, "operator-usage")).toEqual([]);
  await page.getByRole("tab", { name: "Nodes" }).click();
  await page.getByRole("region", { name: "Nodes" }).getByText("Ready", { exact: true }).waitFor();
  expect(await checkPage(page, "operator-nodes")).toEqual([]);
});

test("an agent's page says why it gets nothing", async () => {
  const { id } = ok(await admin.post("/agents", { name: "lonely", delivery_mode: "poll" }));
  await site.go(`/agents/${id}?tab=why`, "The agent has no interests");
});
