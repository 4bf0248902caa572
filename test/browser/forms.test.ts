/** @needs chromium */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { api } from "../support/http.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";
import { deliver, send } from "../support/webhooks.ts";

const site = await openSite();
const { page, admin } = site;

/** Chooses in a combobox by a part of the name. */
async function choose(label: string, part: string, option: RegExp): Promise<void> {
  const box = page.getByRole("combobox", { name: label });
  await box.fill(part);
  await page.getByRole("option", { name: option }).waitFor();
  await box.press("Enter");
}

test("a template is authored with a live graph, and begun with somebody assigned to a step", async () => {
  await site.go("/templates");
  await page.getByRole("link", { name: "Create template" }).first().click();
  await site.fill({ Name: "Release notes", Title: "Collect" });
  await site.button(/Add step after “Collect”/).click();
  await site.fill({ Title: "Write", "Completion criteria": "read: A second person has read it." });
  await page.getByText("Specialist, due date").click();
  await page.getByLabel("Due in hours").fill("1.5");
  await page.getByRole("group", { name: "Write, after collect" }).waitFor();
  await site.press("Create template", site.heading("Release notes"));
  const { steps } = ok(await admin.get("/process-templates/release-notes"));
  expect(steps).toMatchObject([
    { step_key: "collect", depends_on: [] },
    {
      ...{ step_key: "write", depends_on: ["collect"], due_in_seconds: 5400 },
      completion_criteria: [{ key: "read", description: "A second person has read it." }],
    },
  ]);
  await site.button("Create run").click();
  await page.getByLabel("Goal").fill("Notes of 2.0");
  await page.getByText("Assignees").click();
  await choose("Write", "admin", /admin/);
  await site.confirm("Create run", site.heading("Notes of 2.0"));
  const [run] = ok(await admin.get("/runs"));
  expect(run.steps[1]).toMatchObject({ step_key: "write", assigned_user_id: expect.stringMatching(/^usr_/) });
});

test("a template that is not saved is not left by accident", async () => {
  await site.go("/templates");
  await page.getByRole("link", { name: "Create template" }).first().click();
  await page.getByLabel("Name").fill("Half done");
  await page.getByRole("link", { name: "Agents" }).click();
  await site.inDialog("Cancel").click();
  expect(await page.getByLabel("Name").inputValue()).toBe("Half done");
  await page.goBack();
  await site.confirm("Leave", site.heading("Templates"));
});

test("starts a run from the shown version of a template", async () => {
  const step = (title: string) => ({ step_key: "only", title, completion_mode: "attestation" });
  for (const title of ["As it was", "As it is"])
    ok(await admin.post("/process-templates", { name: "Audit", slug: "audit", steps: [step(title)] }));
  await site.go("/templates/audit?version=1");
  await site.button("Create run").click();
  const chosen = page.getByRole("combobox", { name: "Template" }).locator("option:checked");
  await chosen.getByText("Audit (version 1)").waitFor({ state: "attached" });
  await page.getByLabel("Goal").fill("Books of May");
  await site.confirm("Create run", page.getByRole("heading", { name: "As it was", level: 2 }));
});

test("an output is saved, gets a second version, is compared and exported", async () => {
  await site.go("/outputs");
  await site.button("Create output").first().click();
  await page.getByLabel("Text").fill("# Plan\n\n- one\n");
  await site.confirm("Create output", site.heading("Plan"));
  await page.locator(".markdown", { hasText: "one" }).waitFor();
  // The page says what the text is called, and so the text does not.
  expect(await page.getByRole("heading", { name: "Plan" }).count()).toBe(1);
  await site.button("Create version").click();
  await site.fill({ Text: "# Plan\n\n- two\n", "Change note": "One became two." });
  await site.confirm("Save version", page.getByText("Version 2", { exact: true }));
  await page.getByRole("tab", { name: "Versions" }).click();
  await page.getByText("One became two.").waitFor();
  await page.locator(".diff-row.added", { hasText: "two" }).waitFor();
  await site.button("Export").click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Markdown" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8")).toBe("# Plan\n\n- two\n");
});

test("registers a webhook after a test of its mapping, changes the mapping, and rotates its secret", async () => {
  await site.go("/ingest");
  await site.button("Add webhook").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Test the mapping").click();
  await site.inDialog("Test mapping").click();
  await dialog.getByText('"type": "com.github.issues.opened"').waitFor();
  await site.confirm("Add webhook", "GitHub added");
  await dialog
    .getByText(/^whsec_|^[\w-]{20,}$/)
    .first()
    .waitFor();
  await page.getByRole("link", { name: "Open webhook" }).click();
  await site.heading("GitHub").waitFor();
  await site.press("Test mapping", page.getByText('"type": "com.github.issues.opened"'));
  await page.getByLabel("Headers").fill("");
  await site.press("Test mapping", page.getByText(/The payload would be dead-lettered/));
  await page.getByLabel("Sender").selectOption("mapped");
  await site.fill({ Entity: "push", Action: "/a~7" });
  await site.press("Test mapping", page.getByText(/mapping.action: .* is not a JSON Pointer/));
  await page.getByLabel("Action").fill("/action");
  await site.press("Test mapping", page.getByText('"type": "com.github.push.opened"'));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved. Applies to").waitFor();
  expect(ok(await admin.get("/ingest/webhooks")).webhooks).toContainEqual(
    expect.objectContaining({ name: "GitHub", mapping: expect.objectContaining({ entity: "push" }) }),
  );
  await site.button("Rotate secret").click();
  await site.confirm("Rotate secret", page.getByRole("dialog", { name: "New signing secret" }));
});

test("a sender that generates its secret is registered with it", async () => {
  await site.go("/ingest");
  await site.button("Add webhook").click();
  await page.getByLabel("Sender").selectOption("slack");
  await page.getByLabel("Signing secret").fill("8f742231b10e8888abcd99yyyzzz85a5");
  await site.confirm("Add webhook", "Slack added");
  expect(await page.getByText("8f742231b10e8888abcd99yyyzzz85a5").count()).toBe(0);
  const { webhooks } = ok(await admin.get("/ingest/webhooks"));
  expect(webhooks).toContainEqual(expect.objectContaining({ source: "slack", mapping: "slack" }));
  await page.getByRole("link", { name: "Open webhook" }).click();
  await site.button("Rotate secret").click();
  await page.getByLabel("New signing secret").fill("another-secret-of-slack");
  await site.confirm("Rotate secret", page.getByText(/The old secret is accepted until/));
});

test("a webhook shows its last requests as they come, and another mapping is tried on one", async () => {
  const mapping = { entity: "order", action: "/action" };
  const hook = ok(await admin.post("/ingest/webhooks", { name: "Shop", source: "shop", mapping }));
  await site.go(`/ingest/webhooks/${hook.id}`, "No requests yet");
  await send(hook, '{"action": "paid", "number": 7}');
  await deliver(hook.url, "{}", { "X-Service-Signature": "wrong" });
  const log = page.getByRole("region", { name: "Last requests" });
  await log.getByText("Accepted").waitFor();
  await log.getByText("signature does not match").waitFor();
  await page.getByLabel("Request", { exact: true }).selectOption({ index: 1 });
  await page.getByLabel("Entity").fill("/number");
  await site.press("Test mapping", page.getByText('"type": "com.shop.7.paid"'));
  await site.go("/ingest", page.getByRole("row", { name: /^Shop/ }).getByText("signature does not match"));
});

test("a webhook is changed to take CloudEvents, and is tried with one", async () => {
  const mapping = { entity: "order", action: "/action" };
  const { id } = ok(await admin.post("/ingest/webhooks", { name: "Events", source: "events", mapping }));
  await site.go(`/ingest/webhooks/${id}`);
  await page.getByLabel("Sender").selectOption("cloudevents");
  await site.button("Test mapping").click();
  await page
    .getByLabel("Resulting event", { exact: true })
    .getByText('"type": "com.example.order.placed"')
    .waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved. Applies to").waitFor();
  expect(ok(await admin.get("/ingest/webhooks")).webhooks).toContainEqual(
    expect.objectContaining({ id, mapping: "cloudevents" }),
  );
});

test("a signature of one's own is described, counts alone, and is taken away", async () => {
  const mapping = { entity: "order", action: "/what" };
  const hook = ok(await admin.post("/ingest/webhooks", { name: "Acme", source: "acme", mapping }));
  const now = async () =>
    ok(await admin.get("/ingest/webhooks")).webhooks.find(({ id }: { id: string }) => id === hook.id);
  const save = async () => {
    const answer = page.waitForResponse((response) => response.request().method() === "PATCH");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    expect((await answer).status()).toBe(200);
  };
  await site.go(`/ingest/webhooks/${hook.id}`);
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "An HMAC that you describe" });
  await page.getByLabel("Header", { exact: true }).fill("Acme-Signature");
  await page.getByLabel("Prefix", { exact: true }).fill("v1=");
  await page.getByLabel("Algorithm").selectOption({ label: "HMAC-SHA512" });
  await page.getByLabel("Encoding").selectOption({ label: "Base64" });
  await site.fill({ "Signed text": "{timestamp}.{body}", "Header of the time": "Acme-Time" });
  await save();
  expect((await now()).signature).toEqual({
    ...{ scheme: "custom", header: "Acme-Signature", prefix: "v1=", algorithm: "sha512", encoding: "base64" },
    ...{ template: "{timestamp}.{body}", timestamp_header: "Acme-Time" },
  });
  const body = JSON.stringify({ what: "paid" });
  const time = new Date().toISOString();
  const signed = createHmac("sha512", hook.signing_secret).update(`${time}.${body}`).digest("base64");
  const headers = { "Acme-Signature": `v1=${signed}`, "Acme-Time": time };
  expect((await deliver(hook.url, body, headers)).status).toBe(202);

  // What is saved stands in the form, and a change of another field keeps it.
  await page.reload();
  await page.getByLabel("Header of the time").waitFor();
  expect(await page.getByLabel("Algorithm").inputValue()).toBe("sha512");
  await page.getByLabel("Signed text").fill("{body}");
  await save();
  expect((await now()).signature).toEqual({
    ...{ scheme: "custom", header: "Acme-Signature", prefix: "v1=", algorithm: "sha512", encoding: "base64" },
    template: "{body}",
  });
  await page.getByLabel("Signature", { exact: true }).selectOption({ label: "As Microsoft Graph signs" });
  await save();
  expect(await now()).toMatchObject({ mapping, signature: "microsoft_graph" });
  // A preset has its own.
  await page.getByLabel("Sender").selectOption("github");
  await save();
  expect(await now()).toMatchObject({ mapping: "github", signature: null });
});

describe("people and what they own", () => {
  test("an invited person signs in and can be promoted and disabled", async () => {
    await site.go("/settings");
    await site.button("Invite person").click();
    await page.getByLabel("E-mail").fill("grace@example.com");
    await page.getByRole("dialog").getByLabel("Name").fill("Grace");
    await site.confirm("Invite", "grace@example.com can sign in");
    const password = await page.getByRole("dialog").locator(".secret code").textContent();
    const login = { email: "grace@example.com", password };
    expect(ok(await api(site.server).post("/auth/login", login)).user.role).toBe("member");
    await site.inDialog("Done").click();
    await site.button("Actions for Grace").click();
    await page.getByRole("menuitem", { name: "Change role to admin" }).click();
    await page.getByText("Grace is an admin now.").waitFor();
    await site.button("Actions for Grace").click();
    await page.getByRole("menuitem", { name: "Disable…" }).click();
    await site.confirm("Disable", "Grace is disabled.");
    expect((await api(site.server).post("/auth/login", login)).status).toBe(401);
    await site.button("Actions for Grace").click();
    await page.getByRole("menuitem", { name: "Delete…" }).click();
    await site.confirm("Delete person", "Grace deleted.");
    await site.button("Actions for Grace").waitFor({ state: "detached" });
    await page.getByLabel("Search people").fill("nobody of this name");
    await page.getByText("No people match “nobody of this name”").waitFor();
  });

  test("creates a team and a project, and assigns an agent's team and owner", async () => {
    await site.go("/settings?tab=teams");
    await site.button("Create team").click();
    await page.getByRole("dialog").getByLabel("Name").fill("Billing");
    await site.confirm("Create team", page.getByRole("cell", { name: "Billing", exact: true }));
    await site.button("Create team").click();
    await page.getByRole("dialog").getByLabel("Name").fill("Passing");
    await site.inDialog("Create team").click();
    await site.button("Delete team Passing").click();
    await site.inDialog("Delete team").click();
    await page.getByRole("cell", { name: "Passing", exact: true }).waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Projects" }).click();
    await site.button("Create project").click();
    await page.getByLabel("Key").fill("apollo");
    await site.confirm("Create project", page.getByRole("cell", { name: "apollo" }).first());

    const { id } = ok(await admin.post("/agents", { name: "biller", delivery_mode: "poll" }));
    await site.go(`/agents/${id}?tab=settings`);
    await choose("Team", "bil", /Billing/);
    await page.getByRole("combobox", { name: "Owner" }).waitFor();
    await site.button("Clear Owner").click();
    await site.button("Save").nth(1).click();
    await page.getByText("Saved. Applies to").waitFor();
    expect(ok(await admin.get(`/agents/${id}`))).toMatchObject({
      team_id: expect.stringMatching(/^team_/),
      owner_user_id: null,
    });
    await page.reload();
    await page.getByRole("combobox", { name: "Team" }).and(page.locator("[value=Billing]")).waitFor();
  });

  test("shows the limits of the installation", async () => {
    await site.go("/settings?tab=limits", "6,000 per minute");
    await page.getByText("52.4 MB").waitFor();
  });
});

test("a document is uploaded for some only, and says for whom it is", async () => {
  await site.go("/documents");
  await page.getByLabel("Sensitivity").selectOption("confidential");
  await page.getByText("Audience and subject").click();
  await site.fill({ Regions: "emea, apac", Subject: "customer-4711" });
  const file = { name: "prices.txt", mimeType: "text/plain", buffer: Buffer.from("A card costs 5 EUR.") };
  await page.getByLabel("Files to upload").setInputFiles(file);
  await page.getByRole("cell", { name: "prices.txt" }).waitFor();
  await page.getByRole("link", { name: "prices.txt" }).click();
  await site.heading("prices.txt").waitFor();
  await page.getByText("emea, apac").waitFor();
  const [document] = ok(await admin.get("/documents")).documents;
  expect(document).toMatchObject({ sensitivity: "confidential", audience: { regions: ["emea", "apac"] } });
  const asked = { subject: "customer-4711", dry_run: true };
  expect(ok(await admin.post("/memories/erase", asked)).erased.documents).toBe(1);
});

test("uploads many files a few at a time", async () => {
  await site.go("/documents");
  const released = Promise.withResolvers<void>();
  let sent = 0;
  await page.route("**/v1/documents", async (route) => {
    sent++;
    await released.promise;
    await route.continue();
  });
  const file = (n: number) => ({ name: `${n}.txt`, mimeType: "text/plain", buffer: Buffer.from(`No. ${n}`) });
  await page.getByLabel("Files to upload").setInputFiles([1, 2, 3, 4, 5].map(file));
  await settle(() => sent === 3);
  await page.evaluate(`fetch("/v1/auth/session").then((answer) => answer.text())`);
  expect(sent).toBe(3);
  released.resolve();
  await page.getByRole("list", { name: "Uploads" }).getByText("Uploaded").nth(4).waitFor();
  await page.unroute("**/v1/documents");
});
