/** @needs chromium */
import { beforeAll, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";
import { deliver, send } from "../support/webhooks.ts";

const site = await openSite();
const { page, admin } = site;
const ids: Record<string, string> = {};

beforeAll(furnish);

/** Names come as people and programs write them. */
const LONG = `Settle all that is open with the suppliers ${"and_their_subsidiaries_".repeat(6)}`;

const STEPS = [
  { step_key: "collect", title: "Collect the changes", role: "researcher", completion_mode: "attestation" },
  { step_key: "draft", title: LONG, depends_on: ["collect"], completion_mode: "attestation" },
  { step_key: "shots", title: "Screenshots", depends_on: ["collect"], completion_mode: "attestation" },
  {
    ...{ step_key: "review", title: "Review", depends_on: ["draft", "shots"] },
    completion_mode: "handoff_accepted",
  },
];

const LINKS =
  "[The terms](https://example.com/terms), [a program](javascript:alert(1)), [mail](mailto:a@example.com).";

/** One of each, so that pages have something to show. */
async function furnish(): Promise<void> {
  const memory = { type: "semantic", scope: "institutional", tags: ["billing"] };
  const remember = async (title: string, content: string) =>
    ok(await admin.post("/memories", { ...memory, title, content })).id;
  ids.a = await remember("ACME's terms", "ACME pays **30 days** after the end of the month.");
  ids.b = await remember("When ACME pays", "30 days after the end of the month.");
  const linked = {
    ...{ title: "Where the terms are", content: LINKS, source_url: "https://example.com/terms?of=ACME" },
  };
  ids.linked = ok(await admin.post("/memories", { ...memory, ...linked })).id;
  await remember(LONG, "It is told at length. ".repeat(20));
  const to_b = { target_memory_id: ids.b, relationship_type: "supports" };
  ok(await admin.post(`/memories/${ids.a}/relationships`, to_b));
  const pair = { memory_a_id: ids.a, memory_b_id: ids.b };
  ids.merge = ok(await admin.post("/memories/merge-proposals", pair)).id;
  const file_content = Buffer.from("# Runbook\n\nCall the duty engineer.\n").toString("base64");
  const file = { filename: "runbook.md", mime_type: "text/markdown", file_content };
  ids.document = ok(await admin.post("/documents", file)).document_id;
  const template = { name: "Release notes", slug: "release-notes", steps: STEPS };
  const template_id = ok(await admin.post("/process-templates", template)).id;
  ids.run = ok(await admin.post("/runs", { goal: "Ship the release notes", template_id })).id;
  ok(await admin.post(`/runs/${ids.run}/steps/complete`, { step_key: "collect" }));
  const scope = "institutional";
  ids.output = ok(await admin.post("/outputs", { body: "# Notes\n\n- one\n", scope })).id;
  ok(await admin.post("/outputs", { body: "# Notes\n\n- two\n", output_id: ids.output }));
  const mapping = { entity: "header:X-GitHub-Event", action: "/action" };
  const as_sent = { name: "Grid", source: "grid", mapping: "cloudevents" };
  ids.as_sent = ok(await admin.post("/ingest/webhooks", as_sent)).id;
  const hook = ok(await admin.post("/ingest/webhooks", { name: "GitHub", source: "github", mapping }));
  ids.webhook = hook.id;
  await send(hook, '{"action": "opened"}', { "X-GitHub-Event": "issues" });
  await send(hook, '{"zen": "Keep it."}', { "X-GitHub-Event": "ping" });
  await deliver(hook.url, "{}", { "X-Hub-Signature-256": "sha256=wrong" });
  const preset = { source: "slack", mapping: "slack", signing_secret: "8f742231b10e8888abcd" };
  ids.preset = ok(await admin.post("/ingest/webhooks", { name: "Slack", ...preset })).id;
  ok(await admin.post("/teams", { name: "Billing" }));
  ok(await admin.post("/projects", { key: "apollo" }));
  const email = `${"somebody.with.a.long.address".repeat(2)}@a-long-domain.example`;
  ok(await admin.post("/users", { email, display_name: LONG }));
  ok(await admin.post("/runs", { goal: LONG, template_id }));
}

const PAGES: [name: string, path: () => string][] = [
  ["memories", () => "/memories"],
  ["memories-search", () => "/memories?q=When+does+ACME+pay%3F"],
  ["memory", () => `/memories/${ids.a}`],
  ["memory-history", () => `/memories/${ids.a}?tab=history`],
  ["memory-graph", () => `/memories/${ids.a}?tab=relationships`],
  ["memory-origin", () => `/memories/${ids.a}?tab=origin`],
  ["memory-links", () => `/memories/${ids.linked}`],
  ["memory-address", () => `/memories/${ids.linked}?tab=origin`],
  ["memory-map", () => "/memories/map"],
  ["memory-health", () => "/memories/health"],
  ["memory-erase", () => "/memories/erase"],
  ["merges", () => "/memories/merges"],
  ["merge", () => `/memories/merges/${ids.merge}`],
  ["documents", () => "/documents"],
  ["documents-search", () => "/documents?q=whom+to+call"],
  ["document", () => `/documents/${ids.document}`],
  ["runs", () => "/runs"],
  ["run", () => `/runs/${ids.run}`],
  ["run-document", () => `/runs/${ids.run}?tab=document`],
  ["run-history", () => `/runs/${ids.run}?tab=history`],
  ["run-evidence", () => `/runs/${ids.run}?tab=evidence`],
  ["run-about", () => `/runs/${ids.run}?tab=about`],
  ["templates", () => "/templates"],
  ["template", () => "/templates/release-notes"],
  ["template-new", () => "/templates/new"],
  ["template-edit", () => "/templates/release-notes/edit"],
  ["outputs", () => "/outputs"],
  ["output", () => `/outputs/${ids.output}`],
  ["output-source", () => `/outputs/${ids.output}?tab=source`],
  ["output-versions", () => `/outputs/${ids.output}?tab=versions`],
  ["ingest", () => "/ingest"],
  ["webhook", () => `/ingest/webhooks/${ids.webhook}`],
  ["webhook-preset", () => `/ingest/webhooks/${ids.preset}`],
  ["webhook-cloudevents", () => `/ingest/webhooks/${ids.as_sent}`],
  ["connectors", () => "/ingest?tab=connectors"],
  ["settings", () => "/settings"],
  ["settings-teams", () => "/settings?tab=teams"],
  ["settings-projects", () => "/settings?tab=projects"],
  ["settings-limits", () => "/settings?tab=limits"],
  ["settings-audit", () => "/settings?tab=audit"],
  ["settings-account", () => "/settings?tab=account"],
];

test.each(PAGES)("%s can be used by everybody, in light and dark, wide and narrow", async (name, path) => {
  await site.go(path());
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  expect(await checkPage(page, name)).toEqual([]);
});

test("links only web addresses in a memory", async () => {
  await site.go(`/memories/${ids.linked}`, "a program");
  const shown = await page.locator(".markdown").innerHTML();
  expect(shown.match(/<a .*?<\/a>/g)).toEqual([
    '<a href="https://example.com/terms" rel="noreferrer noopener" target="_blank">The terms</a>',
  ]);
});
