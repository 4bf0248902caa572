/** @needs chromium */
import { beforeAll, describe, expect, test } from "@jest/globals";
import type { Locator, Request } from "playwright-core";
import { checkPage } from "../support/browser.ts";
import { api } from "../support/http.ts";
import { DRAWN } from "../support/keyboard.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

let run: string;
let own: string;

const site = await openSite(async (admin) => {
  const steps = [{ step_key: "a", title: "Do it", completion_mode: "attestation" }];
  run = ok(await admin.post("/runs", { goal: "Something", steps })).id;
  const member = ok(await admin.post("/users", { email: "member@example.com", display_name: "Mel" }));
  own = ok(await admin.post("/agents", { name: "mels-bot", delivery_mode: "poll" })).id;
  ok(await admin.patch(`/agents/${own}`, { owner_user_id: member.id }));
  return member;
});
const { page } = site;

/** Requests of the page that are not answered; the stream of changes never is. */
const unanswered = new Set<Request>();
page.on("request", (request) => request.resourceType() !== "eventsource" && unanswered.add(request));
page.on("requestfinished", (request) => unanswered.delete(request));
page.on("requestfailed", (request) => unanswered.delete(request));

/** Links to pages that are for admins. */
const ELSEWHERE = ["/ingest", "/dead-letters", "/memories/erase"].map((path) => `main a[href^="${path}"]`);

/** Members see an explanation in place of admin pages, never an error or a link. */
const PAGES: [path: string, says: RegExp][] = [
  ["/", /Only admins see all events/],
  ["/events", /Events that you published/],
  ["/agents", /mels-bot/],
  ["/connect", /The code shown on the device/],
  ["/channels", /No channels yet/],
  ["/schedules", /No schedules yet/],
  ["/dead-letters", /Only admins of your organisation can use this/],
  ["/ingest", /Only admins of your organisation can use this/],
  ["/memories", /No memories yet|Create memory/],
  ["/memories/health", /Last read/],
  ["/memories/erase", /Only admins of your organisation can use this/],
  ["/memories/merges", /No open proposals/],
  ["/findings", /No findings yet/],
  ["/documents", /No documents yet/],
  ["/specialists", /No specialists yet/],
  ["/exemplars", /No exemplars yet/],
  ["/runs", /Something/],
  ["/templates", /No templates yet/],
  ["/outputs", /No outputs yet/],
  ["/settings", /No projects yet/],
  ["/settings?tab=limits", /Largest event/],
  ["/settings?tab=account", /Change password/],
];

test.each(PAGES)("%s tells a member what there is, and shows no error", async (path, says) => {
  await site.go(path, page.locator(".page h1"));
  await page.locator("main").getByText(says).first().waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect(await page.locator(ELSEWHERE.join()).count()).toBe(0);
});

test("a member has no buttons for what only admins do", async () => {
  await site.go("/settings", page.getByRole("tab", { name: "Your account" }));
  expect(await page.getByRole("tab").allInnerTexts()).toEqual(["Projects", "Limits", "Your account"]);
  expect(await page.getByRole("button", { name: "Create project" }).count()).toBe(0);
  await site.go("/memories/health", "Last read");
  expect(await page.getByRole("link", { name: "Erase permanently" }).count()).toBe(0);
  const places = page.getByRole("navigation", { name: "Console" }).getByRole("link");
  expect(await places.allInnerTexts()).toEqual([
    ...["Overview", "Events", "Agents", "Enter a device code", "Channels", "Schedules", "Memories"],
    ...["Findings", "Documents", "Specialists", "Approvals", "Runs", "Templates", "Exemplars", "Handoffs"],
    ...["Outputs", "Settings"],
  ]);
});

test("a member is led to what their agent is, and to nothing of it that is for admins", async () => {
  await site.go("/");
  await page.getByRole("link", { name: "Agents", exact: true }).click();
  const agents = page.getByRole("table").getByRole("link");
  await agents.first().waitFor();
  expect(await agents.allInnerTexts()).toEqual(["mels-bot"]);
  await agents.click();
  await site.heading("mels-bot").waitFor();
  expect(await page.getByRole("tab").allInnerTexts()).toEqual([
    ...["Deliveries", "Why", "Devices", "Handoffs", "Bundles", "Settings"],
  ]);
  await page.getByRole("tab", { name: "Settings" }).click();
  await page.getByText("Agent ID").waitFor();
  // Besides the names of the chart's lines.
  expect(await page.locator("main button:not(figure button, [role=tab])").allInnerTexts()).toEqual([""]);
});

test("a member completes a step, and begins a run with a new step", async () => {
  await site.go(`/runs/${run}`);
  await page.getByRole("button", { name: "Complete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Complete step" }).click();
  await page.getByText("All steps are done. Close the run").waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  await page.getByText("Mel", { exact: true }).last().waitFor();
  await site.go("/runs");
  await page.getByRole("button", { name: "Create run" }).first().click();
  await page.getByLabel("Goal").fill("My own");
  await page.getByRole("textbox", { name: "Steps" }).fill("Think");
  await page.getByText("Assignees").click();
  const box = page.getByRole("combobox", { name: "Think" });
  await box.press("ArrowDown");
  await page.getByRole("option", { name: /Mel/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create run" }).click();
  await page.getByText("Assigned to").waitFor();
});

test("a member approves a device of an owned agent and sees its scopes", async () => {
  const { server, admin } = site;
  const { user_code } = ok(await admin.post(`/agents/${own}/device-code`, { scopes: ["send"] }));
  const client_info = { name: "laptop", version: "1", host: "mels-laptop" };
  ok(await api(server).post("/device-codes:claim", { user_code, client_info }));
  await site.go(`/connect?code=${user_code}`, "A device wants to act as mels-bot");
  const allowed = page.getByText("Requested scopes").locator("..");
  expect(await allowed.textContent()).toMatch(/Requested scopes\s*send$/);
  await site.press("Approve device", "laptop is connected");
});

test("a code of somebody else's agent is unknown to a member", async () => {
  const { admin, server } = site;
  const { user_code } = ok(await admin.post(`/agents/${server.credentials.agent.id}/device-code`, {}));
  await site.go(`/connect?code=${user_code}`, "No open request for your agents has this code");
});

test("shows people a member may not see by a part of their id, without a link", async () => {
  const { server, admin } = site;
  const { id } = server.credentials.agent;
  const channel = ok(await admin.post("/channels", { name: "incidents" })).id;
  for (const agent_id of [id, own]) ok(await admin.post(`/channels/${channel}/members`, { agent_id }));
  await site.go(`/channels/${channel}`, page.getByRole("link", { name: "mels-bot" }));
  await page
    .getByText(`agent …${id.slice(-4)}`)
    .and(page.getByTitle(id))
    .waitFor();
  expect(await page.locator(`main a[href$="${id}"]`).count()).toBe(0);
});

/** Creates data of other users; their ids by the names that `OFFERING` uses. */
async function furnish(): Promise<Record<string, string>> {
  const { admin, agent } = site;
  const memory = { content: "30 days", type: "semantic", scope: "institutional" };
  const [a, b] = [
    ok(await agent.post("/memories", { ...memory, title: "Terms" })).id,
    ok(await agent.post("/memories", { ...memory, title: "Other terms" })).id,
  ];
  const tie = { target_memory_id: b, relationship_type: "supports" };
  ok(await agent.post(`/memories/${a}/relationships`, tie));
  const merge = ok(await agent.post("/memories/merge-proposals", { memory_a_id: a, memory_b_id: b })).id;
  const output = ok(await agent.post("/outputs", { body: "# Notes", scope: "institutional" })).id;
  const file = { filename: "a.txt", mime_type: "text/plain", file_content: "QQ==", sensitivity: "public" };
  const document = ok(await agent.post("/documents", file)).document_id;
  const channel = ok(await agent.post("/channels", { name: "deployments" })).id;
  ok(await agent.post(`/channels/${channel}/members`, {}));
  ok(await agent.post(`/channels/${channel}/feeds`, { event_type_glob: "com.example.*" }));
  const assigned_user_id = ok(await admin.get("/auth/me")).user.id;
  const steps = [
    { step_key: "a", title: "Hand over", completion_mode: "handoff_accepted" },
    { step_key: "b", title: "Go on", depends_on: ["a"], completion_mode: "attestation", assigned_user_id },
  ];
  const offered = ok(await admin.post("/runs", { goal: "Offered", steps })).id;
  ok(await agent.post(`/runs/${offered}/handoff-offers`, { step_key: "a" }));
  ok(await admin.post("/process-templates", { name: "Notes", slug: "notes", steps: [steps[0]] }));
  ok(await admin.post("/projects", { key: "apollo" }));
  return {
    ...{ MEMORY: a, MERGE: merge, OUTPUT: output, DOCUMENT: document, AGENT: own, RUN: offered },
    CHANNEL: channel,
  };
}

/** Pages on which the data of other users is seen; in capitals what `furnish` creates. */
const OFFERING = [
  ...["/", "/events", "/channels", "/memories", "/memories/health", "/memories/merges", "/documents"],
  ...["/runs", "/templates", "/outputs", "/settings", "/settings?tab=account", "/templates/notes"],
  ...["/memories/MEMORY", "/memories/MEMORY?tab=relationships", "/memories/MEMORY?tab=origin"],
  ...["/memories/merges/MERGE", "/outputs/OUTPUT?tab=versions", "/documents/DOCUMENT", "/agents/AGENT"],
  ...["/runs/RUN", "/runs/RUN?step=b", "/channels/CHANNEL"],
];

/** These come last: they remove what the others act on. */
const DESTRUCTIVE = /^(Delete|Remove|Close run|Forget)/;

/** Opens the page and waits until all of it is there. */
async function open(path: string): Promise<void> {
  await site.go(path, page.locator(".page h1"));
  await settle(async () => (await page.locator(".skeleton").count()) === 0);
}

async function namesOfButtons(): Promise<string[]> {
  const buttons = await page.locator("main button:visible").all();
  const names = await Promise.all(
    buttons.map(
      async (button) => (await button.getAttribute("aria-label")) ?? (await button.textContent()) ?? "",
    ),
  );
  return names.map((name) => name.trim()).filter((name) => name && !/^(Copy|Zoom|Fit)/.test(name));
}

/** Presses the button of the open page, if it is there, and those of the dialogs it opens, filling in forms. */
async function press(name: string): Promise<void> {
  const buttons = page.locator("main button:visible");
  const button = buttons.and(page.getByRole("button", { name, exact: true })).first();
  if ((await button.count()) === 0 || !(await button.isEnabled())) return;
  await button.click();
  const items = await page.getByRole("menuitem").allInnerTexts();
  for (const [at, item] of items.entries()) {
    if (at > 0) await button.click();
    await page.getByRole("menuitem", { name: item, exact: true }).click();
    await answer();
  }
  if (items.length === 0) await answer();
}

/** Continues in the open dialog, if any, until it closes or cannot continue. */
async function answer(): Promise<void> {
  const dialog = page.getByRole("dialog").last();
  if ((await dialog.count()) === 0) return;
  const fields = dialog.locator("input[required], textarea[required]");
  for (const field of await fields.all()) await fillSomehow(field);
  const boxes = await dialog.getByRole("combobox").and(dialog.locator("input")).all();
  for (const box of boxes) await chooseSomething(box);
  const submit = dialog.locator(".dialog-foot button").last();
  if ((await submit.count()) > 0 && (await submit.isEnabled())) await submit.click();
  // A request that the button sends has begun when the page is drawn again.
  await page.evaluate(DRAWN);
  await settle(() => unanswered.size === 0, { what: "answers to the page's requests" });
  await page.keyboard.press("Escape");
  if ((await dialog.count()) > 0) await page.keyboard.press("Escape");
}

async function fillSomehow(field: Locator): Promise<void> {
  if ((await field.inputValue()) !== "") return;
  const type = await field.getAttribute("type");
  const placeholder = await field.getAttribute("placeholder");
  const values: Record<string, string> = { email: "a@example.com", url: "https://a.example" };
  const id = placeholder === "ag_…" ? site.server.credentials.agent.id : undefined;
  await field.fill(id ?? values[type ?? ""] ?? "a.b");
}

async function chooseSomething(box: Locator): Promise<void> {
  await box.click();
  const option = page.locator(".combo-choice").first();
  await option.or(page.getByText("No matches.")).first().waitFor();
  if ((await option.count()) > 0) await option.click();
  else await box.press("Escape");
}

describe("nothing that a member is offered is refused", () => {
  let ids: Record<string, string>;
  let doing = "";
  const refused: string[] = [];
  beforeAll(async () => {
    ids = await furnish();
    page.on("response", (response) => {
      const url = new URL(response.url()).pathname;
      if (response.status() === 403) refused.push(`${doing}: ${response.request().method()} ${url}`);
    });
  });

  const pressed = new Set<string>();
  const last: [path: string, name: string][] = [];

  test.each(OFFERING)("on %s", async (name) => {
    const path = name.replace(/[A-Z]+/, (kind) => ids[kind] as string);
    doing = path;
    await open(path);
    let isAsOpened = true;
    for (const button of await namesOfButtons()) {
      doing = `${path.split("?")[0]} ${button}`;
      if (pressed.has(doing)) continue;
      pressed.add(doing);
      if (DESTRUCTIVE.test(button)) last.push([path, button]);
      else {
        if (!isAsOpened) await open(path);
        await press(button);
        isAsOpened = false;
      }
    }
    expect(refused.splice(0)).toEqual([]);
  });

  test("where it removes something", async () => {
    for (const [path, button] of last) {
      doing = `${path} ${button}`;
      await open(path);
      await press(button);
    }
    expect(refused).toEqual([]);
    expect(pressed.size).toBeGreaterThan(40);
  });
});

test("explanations of hidden pages are accessible", async () => {
  await site.go("/ingest", "Admins only");
  expect(await checkPage(page, "ingest-of-a-member")).toEqual([]);
});
