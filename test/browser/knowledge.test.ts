/** @needs chromium */
import { describe, expect, test } from "@jest/globals";
import { remember as made } from "../support/memories.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent } = site;

const remember = async (title: string, content: string, more: object = {}): Promise<string> =>
  (await made(agent, { title, content, scope: "institutional", ...more })).id;

describe("memories", () => {
  test("a search shows matches, explains them as a funnel, and says why another memory is missing", async () => {
    const due = await remember(
      "ACME's terms",
      "Invoices to ACME are due 30 days after the end of the month.",
    );
    await remember("The kitchen", "The coffee machine is cleaned on Fridays.");
    await site.go("/memories");
    await page.getByLabel("Search memories").fill("When are ACME's invoices due?");
    await site.button("Search").click();
    const results = page.getByRole("list", { name: "Results" });
    await results.getByRole("link", { name: "ACME's terms" }).waitFor();
    expect(await results.getByRole("listitem").count()).toBe(1);

    const stages = page.locator(".funnel-stage");
    expect(await stages.allInnerTexts()).toEqual([
      expect.stringMatching(/^Visible[\s\S]*2$/),
      expect.stringMatching(/^Matched/),
      expect.stringMatching(/^Ranked/),
      expect.stringMatching(/^Above threshold[\s\S]*1/),
      expect.stringMatching(/^Returned[\s\S]*1$/),
    ]);
    await page.getByRole("combobox", { name: "Expected memory" }).fill("kitch");
    await page.getByRole("option", { name: /The kitchen/ }).click();
    await page.getByText(/Dropped at/).waitFor();

    await results.getByRole("link", { name: "ACME's terms" }).click();
    await site.heading("ACME's terms").waitFor();
    expect(page.url()).toContain(`/memories/${due}`);
  });

  test("a list and a search by owner show only that agent's memories", async () => {
    const own = ok(await admin.post("/agents", { name: "Harbour watcher", delivery_mode: "poll" }));
    const id = await remember("Crane two", "The crane of the harbour is repaired.");
    const memory = ok(await agent.get(`/memories/${id}`));
    await site.go(`/memories?agent=${own.id}`, "No matching memories");
    await site.go("/memories", page.getByRole("link", { name: "Crane two" }));
    const owner = page.getByRole("combobox", { name: "Owner" });
    await owner.fill("Harbour");
    await page.getByRole("option", { name: /Harbour watcher/ }).click();
    await page.getByText("No matching memories").waitFor();
    await site.go(`/memories?q=crane&agent=${memory.agent_id}`);
    await page.getByRole("list", { name: "Results" }).getByRole("link", { name: "Crane two" }).waitFor();
  });

  test("a memory's versions are steps of a stair, and the slider says what held when", async () => {
    const office = (city: string, valid_from: string, more: object = {}) => ({
      ...{ title: `The office is in ${city}.`, content: `The office is in ${city}.`, type: "semantic" },
      ...{ scope: "institutional", valid_from, ...more },
    });
    const oslo = ok(await agent.post("/memories", office("Oslo", "2026-01-01T12:00:00Z")));
    const moved = { supersedes_id: oslo.id, reason: "the lease ended" };
    const bergen = ok(await agent.post("/memories", office("Bergen", "2026-03-02T12:00:00Z", moved)));
    const corrected = { valid_from: "2026-02-15T12:00:00Z", reason: "the keys came earlier" };
    ok(await agent.patch(`/memories/${bergen.id}`, corrected));
    await site.go(`/memories/${oslo.id}?tab=history`);
    const versions = page.getByRole("list", { name: "Versions, oldest first" }).getByRole("listitem");
    await versions.nth(1).waitFor();
    expect(await versions.allInnerTexts()).toEqual([
      expect.stringMatching(/^Jan 1, 2026 – Feb 15, 2026\s+The office is in Oslo\.\s+Recorded by/),
      expect.stringMatching(
        /^Since Feb 15, 2026\s+The office is in Bergen\.\s+Recorded by [\s\S]*“the lease ended”\s+Corrected by [\s\S]*“the keys came earlier”\. Before: Since Mar 2, 2026\s/,
      ),
    ]);
    // Where a version ends, the next begins.
    const boxes = await Promise.all(
      [0, 1].map((at) => versions.nth(at).locator(".version-bar:not(.corrected)").boundingBox()),
    );
    const [first, second] = boxes.map((box) => box ?? { x: 0, width: 0 });
    expect(Math.abs((first?.x ?? 0) + (first?.width ?? 0) - (second?.x ?? 0))).toBeLessThan(2);
    expect(second?.x).toBeGreaterThan(first?.x ?? 0);

    const slider = page.getByRole("slider", { name: "What held at" });
    expect(await slider.getAttribute("aria-valuetext")).toBe("Now: The office is in Bergen.");
    await slider.press("Home");
    await page.locator(".version.held").getByText("Oslo").waitFor();
    expect(await slider.getAttribute("aria-valuetext")).toBe("Jan 1, 2026: The office is in Oslo.");
    await versions.nth(1).getByRole("link", { name: "The office is in Bergen." }).click();
    await site.heading("The office is in Bergen.").waitFor();
  });

  test("shows all memories on a map, to be walked by keys and by relationships", async () => {
    const since = (day: string, subject: string) => ({ subject, valid_from: `2026-${day}T00:00:00Z` });
    const first = await remember("Tower unlit", "Dark.", since("01-10", "lighthouse"));
    const second = await remember("Tower lit", "Bright.", since("06-10", "lighthouse"));
    const pier = await remember("Pier closed", "Storm.", since("06-12", "pier"));
    const to = { target_memory_id: first, relationship_type: "causes" };
    ok(await agent.post(`/memories/${pier}/relationships`, to));
    await site.go("/memories/map?as_of=2026-07-01");
    const dot = (name: string) => page.getByRole("button", { name, exact: true });
    const [older, newer] = [
      await dot("Tower unlit, lighthouse").boundingBox(),
      await dot("Tower lit, lighthouse").boundingBox(),
    ];
    expect((newer?.x ?? 0) - (older?.x ?? 0)).toBeGreaterThan(100);
    await dot("Tower unlit, lighthouse").click();
    await page.getByRole("heading", { name: "Tower unlit" }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("heading", { name: "Tower lit" }).waitFor();
    await page.locator(`[data-id="${second}"]:focus`).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("button", { name: "causes: Pier closed" }).click();
    await page.getByRole("heading", { name: "Pier closed" }).waitFor();
    await page.locator(".map-field line").waitFor({ state: "attached" });
    expect(await page.locator(".map-field line").count()).toBe(1);
    const bullets = `getComputedStyle(document.querySelector(".map-ties")).listStyleType`;
    expect(await page.evaluate(bullets)).toBe("none");
    await page.locator("label.segment", { hasText: "Type" }).click();
    await dot("Pier closed, Semantic").waitFor();
    await page.getByRole("link", { name: "Open" }).click();
    await page.getByRole("heading", { level: 1, name: "Pier closed" }).waitFor();
  });

  test("navigates between memories along their relationships", async () => {
    const outage = await remember("The outage", "The disk was full.");
    const alert = await remember("The alert", "At 80 %.");
    const cause = { target_memory_id: outage, relationship_type: "caused_by" };
    ok(await agent.post(`/memories/${alert}/relationships`, cause));
    await site.go(`/memories/${outage}?tab=relationships`);
    await page.getByRole("group", { name: "The alert, semantic" }).click();
    await site.button("Centre here").click();
    const way = page.getByRole("navigation", { name: "Path through the graph" });
    await way.getByRole("button", { name: "The alert" }).waitFor();
    expect(await way.getByRole("button").allInnerTexts()).toEqual(["The outage", "The alert"]);
  });

  test("the memory that a merge keeps gets the text that was written", async () => {
    const stays = await remember("Paris office", "The office in Paris opens at nine.");
    const goes = await remember("Office hours", "Paris: from 9 to 17.");
    ok(await agent.post("/memories/merge-proposals", { memory_a_id: stays, memory_b_id: goes }));
    await site.go("/memories/merges");
    await page.getByRole("link", { name: /Paris office/ }).click();
    await page.getByRole("radio", { name: "Keep this one" }).check();
    await page.getByLabel("Content of the kept memory").fill("The office in Paris is open from 9 to 17.");
    await site.press("Merge", "No open proposals");
    expect(ok(await admin.get(`/memories/${stays}`))).toMatchObject({
      status: "active",
      content: "The office in Paris is open from 9 to 17.",
    });
    expect(ok(await admin.get(`/memories/${goes}`)).status).toBe("merged");
  });
});

describe("filters of memories", () => {
  const titles = () => page.locator(".memory-title").allTextContents();
  const shown = (...expected: string[]) =>
    settle(async () => (await titles()).toSorted().join() === expected.join(), { what: expected.join() });
  /** Of a type that no other memory here has. */
  const invoice = (title: string, metadata: object) =>
    remember(title, `An invoice: ${title}.`, { type: "procedural", metadata });

  test("by subject and metadata are in the address, with a chip for each condition", async () => {
    await invoice("A", { subject: "acme", amount: 50, state: "open" });
    await invoice("B", { subject: "acme", amount: 150, state: "late" });
    await invoice("C", { subject: "globex", amount: 250, state: "open" });
    await invoice("D", { subject: "globex", amount: 350, state: "paid" });
    await site.go("/memories?type=procedural");
    await shown("A", "B", "C", "D");
    const chips = page.getByRole("list", { name: "Metadata conditions" }).getByRole("listitem");
    const field = page.getByLabel("Metadata", { exact: true });
    const add = async (condition: string) => {
      await field.fill(condition);
      await field.press("Enter");
    };

    await add("amount >= 100");
    await shown("B", "C", "D");
    await add("amount < 300");
    await shown("B", "C");
    await add("state = open, late");
    await page.getByLabel("Subject").fill("globex");
    await page.getByLabel("Subject").press("Enter");
    await shown("C");
    expect(await chips.allTextContents()).toEqual(["amount >= 100", "amount < 300", "state = open, late"]);
    expect(await field.inputValue()).toBe("");
    await page.reload();
    await shown("C");

    // The search by meaning has the same filters.
    await page.getByLabel("Search memories").fill("invoice");
    await site.press("Search", page.getByRole("list", { name: "Results" }));
    await shown("C");
    await site.button("Clear query").click();

    await page.getByLabel("Subject").fill("");
    await page.getByLabel("Subject").press("Enter");
    await shown("B", "C");
    await site.button("Remove amount < 300").click();
    await shown("B", "C");
    await site.button("Remove state = open, late").click();
    await shown("B", "C", "D");
    await add("amount is 5");
    await page.getByText(/^Write a key/).waitFor();
    await site.button("Remove amount >= 100").click();
    await shown("A", "B", "C", "D");
    expect(await chips.count()).toBe(0);
  });
});

describe("work", () => {
  test("a run is begun, its steps are attested, skipped and reopened, and it is closed", async () => {
    await site.go("/runs");
    await site.button("Create run").first().click();
    await page.getByLabel("Goal").fill("Ship the release notes");
    await page.getByRole("textbox", { name: "Steps" }).fill("Collect the changes\nWrite the draft\nPublish");
    await site.confirm("Create run", site.heading("Ship the release notes"));

    await site.press("Start", page.getByRole("group", { name: "Collect the changes, In progress" }));
    await site.button("Complete").click();
    await page.getByLabel("What was done").fill("23 changes, all linked.");
    const evidence = { name: "changes.md", mimeType: "text/markdown", buffer: Buffer.from("# 23 changes\n") };
    await page.getByRole("dialog").getByLabel("Evidence").setInputFiles(evidence);
    await site.confirm("Complete step", page.getByRole("group", { name: "Collect the changes, Completed" }));

    await page.getByRole("group", { name: /Write the draft, Ready/ }).click();
    await site.button("Skip").click();
    await page.getByLabel("Reason").fill("It was written already.");
    await site.inDialog("Skip step").click();
    await page.getByRole("group", { name: /Publish, Ready/ }).click();
    await site.button("Assign").click();
    await page.getByRole("combobox", { name: "Person" }).press("ArrowDown");
    await page.getByRole("option").first().click();
    await site.confirm("Assign", page.getByText("Assigned to", { exact: true }));
    await site.button("Complete").click();
    await site.confirm("Complete step", "All steps are done. Close the run");

    await page.getByRole("tab", { name: "Evidence" }).click();
    await page.getByRole("cell", { name: "changes.md" }).waitFor();
    await site.button("Close run").click();
    await site.inDialog("Close run").click();
    await page.getByRole("tab", { name: "Retrospective" }).click();
    await page.getByText("23 changes, all linked.").waitFor();
    const [run] = ok(await admin.get("/runs"));
    expect(run).toMatchObject({ status: "closed", outcome: "achieved" });
  });

  test("a document is uploaded, followed until it is searchable, and found by its passage", async () => {
    await site.go("/documents");
    const text = "# Runbook\n\nWhen the alarm sounds, call the duty engineer.\n";
    const file = { name: "runbook.md", mimeType: "text/markdown", buffer: Buffer.from(text) };
    await page.getByLabel("Files to upload").setInputFiles(file);
    await page.getByText("Uploaded", { exact: true }).first().waitFor();
    await page.getByRole("cell", { name: "stored" }).waitFor();
    await page.getByLabel("Search documents").fill("whom to call when the alarm sounds");
    await site.button("Search").click();
    await page.getByRole("list", { name: "Passages" }).getByRole("link", { name: "runbook.md" }).click();
    await site.heading("runbook.md").waitFor();
    await page.getByRole("list", { name: "Chunks" }).getByText("call the duty engineer").waitFor();
  });
});
