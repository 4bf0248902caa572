/** @needs chromium */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { finished, fixtureFile, ingest } from "../support/documents.ts";
import { agentToken, api } from "../support/http.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent } = site;
const ids: Record<string, string> = {};

beforeAll(furnish);
afterAll(site.close);

/** Names come as people and programs write them. */
const LONG = `Settle all that is open with the suppliers ${"and_their_subsidiaries_".repeat(6)}`;
const HTML =
  "<h1>Terms</h1><script>document.title = 'run'; window.ran = true</script><img src=x onerror=alert(1)>";

/** One of each, so that pages have something to show. */
async function furnish(): Promise<void> {
  ids.agent = ok(await agent.get("/auth/me")).agent.id;
  const memory = { type: "semantic", scope: "institutional", tags: ["billing"] };
  const fact = {
    ...memory,
    title: "ACME's terms",
    content: "ACME pays **30 days** after the end of the month.",
  };
  ids.memory = ok(await agent.post("/memories", fact)).id;
  ok(await agent.post("/memories", { ...memory, title: LONG, content: "Told at length. ".repeat(30) }));
  await privateMemory();
  ids.bundle = ok(await agent.post("/bundles", { query: "When does ACME pay?" })).id;
  const payload = {
    next_action: "Run the backfill in batches",
    completed: ["Schema migrated"],
    decisions: [{ title: "Keep the old table", rationale: "It is read at night." }],
  };
  const saved = { name: "billing-migration", summary: "Two of three tables are migrated.", payload };
  const more = { citations: [{ memory_id: ids.memory }], bundle_id: ids.bundle, origin_client: "terminal" };
  ids.handoff = ok(await agent.post("/handoffs", { ...saved, ...more })).id;
  ids.pinned = ok(await agent.post("/handoffs", { name: LONG.slice(0, 150), summary: LONG })).id;
  ok(await agent.post(`/handoffs/${ids.pinned}/pin`));
  const first = { system_prompt: "You review contracts.\nBe strict.", description: LONG };
  ok(await admin.put("/specialists/contract-reviewer", first));
  const rules = "A table of findings.";
  ok(
    await admin.put("/specialists/contract-reviewer", {
      ...first,
      system_prompt: "You review contracts.\nBe kind.",
      output_format_rules: rules,
    }),
  );
  const text = { display_name: LONG, filename: "note.md", content: "# Release note\n\n- one\n" };
  ids.exemplar = ok(await agent.post("/exemplars", text)).id;
  ids.run = ok(await agent.post("/runs", { goal: "Ship the release", steps: [{ step_key: "a" }] })).id;
  ok(await agent.post(`/runs/${ids.run}/exemplars`, { exemplar_id: ids.exemplar }));
  ids.pdf = (await ingest(agent, fixtureFile("manual.pdf", "application/pdf"))).document_id;
  ids.failed = (await ingest(agent, fixtureFile("encrypted.pdf", "application/pdf"))).document_id;
  const named = (filename: string, mime_type: string, content: string) =>
    ingest(agent, { filename, mime_type, file_content: Buffer.from(content).toString("base64") });
  ids.html = (await named("terms.html", "text/html", HTML)).document_id;
  ids.markdown = (
    await named("runbook.md", "text/markdown", "# Runbook\n\nCall the **duty engineer**.\n")
  ).document_id;
}

/** Of an agent that the admin does not own. */
async function privateMemory(): Promise<void> {
  ids.other = ok(await admin.post("/agents", { name: "archivist", delivery_mode: "poll" })).id;
  ok(await admin.patch(`/agents/${ids.other}`, { owner_user_id: null }));
  const { key } = ok(
    await admin.post(`/agents/${ids.other}/keys`, { scopes: ["memory:read", "memory:write"] }),
  );
  const archivist = api(site.server, await agentToken(site.server, key));
  const title = "What nobody else may read";
  ok(
    await archivist.post("/memories", {
      ...{ title, content: "ACME pays late.", type: "semantic", scope: "agent" },
    }),
  );
  ids.withheld = ok(await archivist.post("/bundles", { query: "When does ACME pay?" })).id;
}

const PAGES: [name: string, path: () => string][] = [
  ["handoffs", () => "/handoffs"],
  ["agent-handoffs", () => `/agents/${ids.agent}?tab=handoffs`],
  ["agent-bundles", () => `/agents/${ids.agent}?tab=bundles`],
  ["agent-no-handoffs", () => `/agents/${ids.other}?tab=handoffs`],
  ["handoff", () => `/agents/${ids.agent}/handoffs/${ids.handoff}`],
  ["bundle", () => `/agents/${ids.agent}/bundles/${ids.bundle}`],
  ["bundle-brief", () => `/agents/${ids.agent}/bundles/${ids.bundle}?tab=brief`],
  ["bundle-withheld", () => `/agents/${ids.other}/bundles/${ids.withheld}`],
  ["findings", () => "/findings"],
  ["specialists", () => "/specialists"],
  ["specialist", () => "/specialists/contract-reviewer"],
  ["specialist-versions", () => "/specialists/contract-reviewer?tab=versions"],
  ["exemplars", () => "/exemplars"],
  ["exemplar", () => `/exemplars/${ids.exemplar}`],
  ["document-failed", () => `/documents/${ids.failed}`],
  ["document-original", () => `/documents/${ids.markdown}?tab=original`],
  ["document-html", () => `/documents/${ids.html}?tab=original`],
  [
    "audit-filtered",
    () => "/settings?tab=audit&action=documents.content&range=custom&since=2026-01-01T00%3A00",
  ],
];

test.each(PAGES)("%s can be used by everybody, in light and dark, wide and narrow", async (name, path) => {
  await site.go(path());
  await page.locator(".page h1").waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  expect(await page.locator(".failure").count()).toBe(0);
  expect(await checkPage(page, name)).toEqual([]);
});

describe("an agent's own work", () => {
  test("a handoff is found by its agent, and leads to its bundle and its memories", async () => {
    const { name } = ok(await admin.get(`/agents/${ids.agent}`));
    await site.go("/");
    await page.getByRole("link", { name: "Handoffs" }).click();
    await page.getByRole("combobox", { name: "Agent" }).fill(name);
    await page.getByRole("option", { name }).first().click();
    await page.getByRole("link", { name: "billing-migration" }).click();
    await site.heading("billing-migration").waitFor();
    await page.getByText("Run the backfill in batches").waitFor();
    await page.getByRole("link", { name: "Context it started with" }).click();
    await site.heading("Bundle").waitFor();
    await page.getByRole("link", { name: "ACME's terms" }).click();
    await site.heading("ACME's terms").waitFor();
    const { entries } = ok(await admin.get(`/audit?action=handoffs.get_of_agent&resource_id=${ids.handoff}`));
    expect(entries[0]).toMatchObject({ actor_kind: "user", outcome: "done" });
  });

  test("what only the agent and its owner may read is withheld, also from admins", async () => {
    await site.go(`/agents/${ids.other}/bundles/${ids.withheld}`, "Only its owner can read it");
    expect(await page.getByText("What nobody else may read").count()).toBe(0);
    await page.getByRole("tab", { name: "Brief" }).click();
    await page.getByText("The brief is private").waitFor();
  });

  test("findings are filtered by agent", async () => {
    await site.go(`/findings?agent=${ids.other}`, "No findings for these filters");
    await page.getByRole("button", { name: "Clear Agent" }).click();
    await page.getByRole("link", { name: "ACME's terms" }).click();
    await site.heading("ACME's terms").waitFor();
  });
});

describe("specialists and exemplars", () => {
  test("a specialist is created, and gets a second version", async () => {
    await site.go("/specialists");
    await site.button("Create specialist").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("contract-reviewer");
    await dialog.getByLabel("System prompt").fill("You write.");
    await site.confirm("Create specialist", page.getByRole("alert").getByText("already exists"));
    await dialog.getByLabel("Name").fill("writer");
    await site.confirm("Create specialist", site.heading("writer"));
    await site.button("Create version").click();
    await dialog.getByLabel("System prompt").fill("You write briefly.");
    await site.confirm("Save version", page.getByText("Version 2", { exact: true }));
    await page.getByText("You write briefly.").waitFor();
    await page.getByRole("tab", { name: "Versions" }).click();
    await page.getByText("+1 line").waitFor();
    expect(ok(await admin.get("/specialists/writer/versions")).total).toBe(2);
  });

  test("an exemplar is added from a file, renamed, downloaded and deleted", async () => {
    await site.go("/exemplars");
    await site.button("Add exemplar").click();
    const buffer = Buffer.from("Plain words.\n");
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "plain.txt", mimeType: "text/plain", buffer });
    await page.getByLabel("Name", { exact: true }).fill("A plain text");
    await site.confirm("Add exemplar", site.heading("A plain text"));
    await page.getByText("No run or template refers to it").waitFor();
    await site.button("More actions").click();
    await page.getByRole("menuitem", { name: "Rename…" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Plain");
    await site.confirm("Rename", site.heading("Plain"));
    expect(await textOf(() => site.button("Download").click())).toEqual(["plain.txt", "Plain words.\n"]);
    await site.button("More actions").click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await site.confirm("Delete", site.heading("Exemplars"));
    expect(ok(await admin.get("/exemplars"))).toHaveLength(1);
  });

  test("an exemplar names the runs that it is attached to", async () => {
    await site.go(`/exemplars/${ids.exemplar}`);
    await page.getByRole("link", { name: "Ship the release" }).click();
    await site.heading("Ship the release").waitFor();
  });
});

/** Returns the name and the text of the file that an action downloads. */
async function textOf(act: () => Promise<void>): Promise<[string, string]> {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  return [download.suggestedFilename(), readFileSync(await download.path(), "utf8")];
}

describe("documents", () => {
  test("the original is shown as text, and nothing of it runs", async () => {
    await site.go(`/documents/${ids.html}`);
    await page.getByRole("tab", { name: "Original" }).click();
    await page.getByText("<script>").waitFor();
    expect(await page.locator(".original").textContent()).toBe(HTML);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    await site.go(`/documents/${ids.markdown}?tab=original`);
    await page.locator("strong").getByText("duty engineer").waitFor();
  });

  test("a PDF is shown in the browser's viewer, and the download is the original", async () => {
    await site.go(`/documents/${ids.pdf}?tab=original`);
    const frame = page.locator("iframe.pdf");
    await frame.waitFor();
    expect(await frame.getAttribute("src")).toMatch(/^blob:/);
    const [download] = await Promise.all([page.waitForEvent("download"), site.button("Download").click()]);
    expect(download.suggestedFilename()).toBe("manual.pdf");
    const { file_content } = fixtureFile("manual.pdf", "application/pdf");
    expect(readFileSync(await download.path()).toString("base64")).toBe(file_content);
  });

  test("a failed document is retried", async () => {
    await site.go(`/documents/${ids.failed}`, "Processing failed");
    await site.press("Retry", "Queued again.");
    await finished(admin, ids.failed as string);
    await page.getByText("Processing failed").waitFor();
  });

  test("each sensitivity says who reads it, where it is chosen and where it is shown", async () => {
    await site.go("/documents");
    await page.getByLabel("Sensitivity").selectOption("confidential");
    await page.getByText("Readers: only you.").waitFor();
    await site.go(`/documents/${ids.pdf}`, "Readers: everyone in the organisation.");
  });
});

describe("the audit log", () => {
  test("names actors and resources, and keeps its filters in the address", async () => {
    ok(
      await agent.del(
        `/documents/${ids.markdown}?source_id=${(await document(ids.markdown)).ingestion_source_id}`,
      ),
    );
    await site.go("/settings?tab=audit", page.getByRole("link", { name: "manual.pdf" }).first());
    await page.getByRole("link", { name: "Ship the release" }).first().waitFor();
    await page.getByLabel("Resource").selectOption("run");
    await page.getByRole("cell", { name: "manual.pdf" }).first().waitFor({ state: "detached" });
    await page.getByLabel("Time").selectOption("24h");
    await page.waitForURL(/resource_type=run&range=24h/);
    const box = page.getByRole("combobox", { name: "Action" });
    await box.fill("attach");
    await page
      .getByRole("option", { name: /^runs\.attach/ })
      .first()
      .click();
    await page.getByRole("row").nth(2).waitFor({ state: "detached" });
    await page.reload();
    await page.getByRole("link", { name: "Ship the release" }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
    await page.getByRole("button", { name: /^runs\.attach/ }).click();
    await page
      .getByRole("dialog")
      .getByText(ids.exemplar as string)
      .first()
      .waitFor();
  });

  test("is exported with its filters", async () => {
    await site.go("/settings?tab=audit&resource_type=run");
    const [name, text] = await textOf(async () => {
      await site.button("Export").click();
      await page.getByRole("menuitem", { name: /CSV/ }).click();
    });
    expect(name).toBe("audit.csv");
    const listed = ok(await admin.get("/audit?resource_type=run&limit=200")).entries;
    expect(text.trimEnd().split("\r\n")).toHaveLength(1 + listed.length);
    const [other, lines] = await textOf(async () => {
      await site.button("Export").click();
      await page.getByRole("menuitem", { name: /NDJSON/ }).click();
    });
    expect(other).toBe("audit.ndjson");
    expect(
      lines
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).id),
    ).toEqual(listed.map(({ id }: { id: string }) => id));
  });
});

// biome-ignore lint/suspicious/noExplicitAny: tests assert on shapes that the type checker cannot know
const document = async (id: string | undefined): Promise<any> => ok(await admin.get(`/documents/${id}`));

test("no page had problems or requested another host", () => {
  // The browser's viewer of PDF files has addresses of its own.
  expect(site.problems.filter((each) => !/^asked for chrome(-extension)?:/.test(each))).toEqual([]);
});
