/** @needs chromium */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser, Page } from "playwright-core";
import { type Console, openConsole, startBrowser } from "../support/browser.ts";
import { type Api, agentToken, api } from "../support/http.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { ok } from "../support/tenancy.ts";

let server: TestServer;
let browser: Browser;
let console_: Console;
let page: Page;
let admin: Api;
let agent: Api;

beforeAll(async () => {
  server = await startServer({ env: { RATE_LIMIT_PER_MINUTE: "0" } });
  browser = await startBrowser();
  console_ = await openConsole(browser, server);
  page = console_.page;
  admin = api(server, ok(await api(server).post("/auth/login", server.credentials.admin)).access_token);
  agent = api(server, await agentToken(server, server.credentials.agent.api_key));
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const go = (path: string) => page.goto(server.root + path);
const button = (name: string | RegExp) => page.getByRole("button", { name });
const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name });
const heading = (name: string) => page.getByRole("heading", { name, level: 1 });

async function remember(title: string, content: string): Promise<string> {
  return ok(await agent.post("/memories", { title, content, type: "semantic", scope: "institutional" })).id;
}

describe("memories", () => {
  test("a search gives what fits, explains it as a funnel, and says why another one is missing", async () => {
    const due = await remember(
      "ACME's terms",
      "Invoices to ACME are due 30 days after the end of the month.",
    );
    const other = await remember("The kitchen", "The coffee machine is cleaned on Fridays.");
    await go("/memories");
    await page.getByLabel("Search memories").fill("When are ACME's invoices due?");
    await button("Search").click();
    const results = page.getByRole("list", { name: "Results" });
    await results.getByRole("link", { name: "ACME's terms" }).waitFor();
    expect(await results.getByRole("listitem").count()).toBe(1);

    const stages = page.locator(".funnel-stage");
    expect(await stages.allInnerTexts()).toEqual([
      expect.stringMatching(/^Visible[\s\S]*2$/),
      expect.stringMatching(/^Matched/),
      expect.stringMatching(/^Weighed/),
      expect.stringMatching(/^Above the floor[\s\S]*1/),
      expect.stringMatching(/^Given[\s\S]*1$/),
    ]);
    await page.getByLabel("Memory id").fill(other);
    await button("Explain").click();
    await page.getByText(/Lost at/).waitFor();

    await results.getByRole("link", { name: "ACME's terms" }).click();
    await heading("ACME's terms").waitFor();
    expect(page.url()).toContain(`/memories/${due}`);
  }, 30_000);

  test("one walks from memory to memory along their relationships", async () => {
    const [outage, alert] = [
      await remember("The outage", "The disk was full."),
      await remember("The alert", "At 80 %."),
    ];
    ok(
      await agent.post(`/memories/${alert}/relationships`, {
        target_memory_id: outage,
        relationship_type: "caused_by",
      }),
    );
    await go(`/memories/${outage}?tab=relationships`);
    await page.getByRole("group", { name: "The alert, semantic" }).click();
    await button("Walk here").click();
    const way = page.getByRole("navigation", { name: "Way through the graph" });
    await way.getByRole("button", { name: "The alert" }).waitFor();
    expect(await way.getByRole("button").allInnerTexts()).toEqual(["The outage", "The alert"]);
  }, 30_000);

  test("a merge is decided with both sides in view, and the one that stays gets the text that was written", async () => {
    const stays = await remember("Paris office", "The office in Paris opens at nine.");
    const goes = await remember("Office hours", "Paris: from 9 to 17.");
    ok(await agent.post("/memories/merge-proposals", { memory_a_id: stays, memory_b_id: goes }));
    await go("/memories/merges");
    await page.getByRole("link", { name: /Paris office/ }).click();
    await page.getByRole("radio", { name: "Keep this one" }).check();
    await page.getByLabel("Content of the one that stays").fill("The office in Paris is open from 9 to 17.");
    await button("Merge").click();
    await page.getByText("No open proposals").waitFor();
    expect(ok(await admin.get(`/memories/${stays}`))).toMatchObject({
      status: "active",
      content: "The office in Paris is open from 9 to 17.",
    });
    expect(ok(await admin.get(`/memories/${goes}`)).status).toBe("merged");
  }, 30_000);
});

describe("work", () => {
  test("a run is begun, its steps are attested, skipped and reopened, and it is closed", async () => {
    await go("/runs");
    await button("Begin a run").first().click();
    await page.getByLabel("Goal").fill("Ship the release notes");
    await page.getByLabel("One step a line").fill("Collect the changes\nWrite the draft\nPublish");
    await inDialog("Begin").click();
    await heading("Ship the release notes").waitFor();

    await button("Start").click();
    await page.getByRole("group", { name: "Collect the changes, In progress" }).waitFor();
    await button("Complete").click();
    await page.getByLabel("What makes this done").fill("23 changes, all linked.");
    const evidence = { name: "changes.md", mimeType: "text/markdown", buffer: Buffer.from("# 23 changes\n") };
    await page.getByRole("dialog").getByLabel("Evidence").setInputFiles(evidence);
    await inDialog("Complete the step").click();
    await page.getByRole("group", { name: "Collect the changes, Completed" }).waitFor();

    await page.getByRole("group", { name: /Write the draft, Ready/ }).click();
    await button("Skip").click();
    await page.getByLabel("Why").fill("It was written already.");
    await inDialog("Skip the step").click();
    await page.getByRole("group", { name: /Publish, Ready/ }).click();
    await button("Complete").click();
    await inDialog("Complete the step").click();
    await page.getByText("Every step is done. Close the run").waitFor();

    await page.getByRole("tab", { name: "Evidence" }).click();
    await page.getByRole("cell", { name: "changes.md" }).waitFor();
    await button("Close the run").click();
    await inDialog("Close the run").click();
    await page.getByRole("tab", { name: "Retrospective" }).click();
    await page.getByText("23 changes, all linked.").waitFor();
    const [run] = ok(await admin.get("/runs"));
    expect(run).toMatchObject({ status: "closed", outcome: "achieved" });
  }, 30_000);

  test("a document is uploaded, followed until it is searchable, and found by its passage", async () => {
    await go("/documents");
    const text = "# Runbook\n\nWhen the alarm sounds, call the duty engineer.\n";
    const file = { name: "runbook.md", mimeType: "text/markdown", buffer: Buffer.from(text) };
    await page.getByLabel("Files to upload").setInputFiles(file);
    await page.getByText("Uploaded", { exact: true }).first().waitFor();
    await page.getByRole("cell", { name: "stored" }).waitFor();
    await page.getByLabel("Search documents").fill("whom to call when the alarm sounds");
    await button("Search").click();
    await page.getByRole("list", { name: "Passages" }).getByRole("link", { name: "runbook.md" }).click();
    await heading("runbook.md").waitFor();
    await page.getByRole("list", { name: "Chunks" }).getByText("call the duty engineer").waitFor();
  }, 30_000);
});

test("nothing went wrong on the way, and no other host was asked", () => {
  expect(console_.problems).toEqual([]);
});
