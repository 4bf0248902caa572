/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { type Received, startMail } from "../support/mail.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const mail = await startMail();
const site = await openSite(undefined, {
  SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
  SMTP_FROM: "sensorium@example.com",
});
const { page, admin, agent, server } = site;
let memory: string;

const remembered = { title: "Cups", content: "Cups break.", type: "semantic", scope: "institutional" };
memory = ok(await agent.post("/memories", remembered)).id;

afterAll(async () => {
  await site.close();
  await mail.stop();
});

const ask = async (title: string) =>
  ok(
    await agent.post("/approvals", {
      ...{ title, question: "The cup is **broken**.", evidence: [{ kind: "memory", id: memory }] },
      on_deadline: "reject",
    }),
  );
const count = () => page.getByRole("link", { name: /^Approvals/ }).textContent();

test("a question appears as a card, and is answered with a text", async () => {
  await site.go("/approvals", "No open approvals");
  const { id } = await ask("Refund order 1042?");
  const card = page.locator("section.card", { hasText: "Refund order 1042?" });
  await card.getByRole("link", { name: "Refund order 1042?" }).waitFor();
  await settle(async () => (await count()) === "Approvals1 open");
  expect(await card.locator("strong").first().textContent()).toBe("broken");
  const evidence = card.getByRole("list", { name: "Evidence" });
  await evidence.getByRole("link", { name: "Cups", exact: true }).waitFor();
  await evidence.getByText("Cups break.").waitFor();
  await evidence.getByText("Unchanged since asked").waitFor();
  const newer = { title: "Cups, newer", content: "Cups last.", type: "semantic", scope: "institutional" };
  memory = ok(await agent.post("/memories", { ...newer, supersedes_id: memory })).id;
  await evidence.getByText("What has changed").click();
  await evidence.getByRole("link", { name: "Cups, newer" }).waitFor();
  expect(await card.getByText(/^If nobody answers by/).textContent()).toMatch(/: reject\.$/);
  expect(await checkPage(page, "approvals-evidence")).toEqual([]);
  await card.getByLabel("Text").fill("For this one.");
  await card.getByRole("button", { name: "Approve" }).click();
  await page.getByText("Answered “Refund order 1042?” with approve.").waitFor();
  expect(ok(await admin.get(`/approvals/${id}`))).toMatchObject({
    ...{ status: "answered", choice: "approve", text: "For this one.", answered_by: "signed_in" },
  });
  await settle(async () => (await count()) === "Approvals");
  await site.go(`/approvals/${id}`, site.heading("Refund order 1042?"));
  await site.press("Show receipt", page.locator("code", { hasText: /^eyJ/ }));
  expect(site.problems).toEqual([]);
});

test("an open question is canceled", async () => {
  const { id } = await ask("Close the shop?");
  await site.go(`/approvals/${id}`);
  await site.press("Cancel question", "“Close the shop?” is canceled.");
  expect(ok(await admin.get(`/approvals/${id}`)).status).toBe("canceled");
});

test("the page of a link answers nothing until the person confirms, without a sign-in", async () => {
  const { id } = await ask("Ship on Friday?");
  const isIts = ({ data }: Received) => data.includes(id);
  const { data } = await settle(() => mail.received.find(isIts), { what: "the e-mail" });
  const text = data.replace(/=\r?\n/g, "");
  const [, token] = /reject:\r?\n\S+\/answer#(\S+)/.exec(text) ?? [];
  const context = await site.browser.newContext();
  try {
    const visitor = await context.newPage();
    await visitor.goto(`${server.root}/answer#${token}`);
    await visitor.getByRole("heading", { name: "Ship on Friday?" }).waitFor();
    const confirm = visitor.getByRole("button", { name: "Confirm: reject" });
    await confirm.waitFor();
    expect(ok(await admin.get(`/approvals/${id}`)).status).toBe("open");
    await visitor.getByLabel("Text").fill("On Monday.");
    await confirm.click();
    await visitor.getByText("Your answer is “reject”").waitFor();
    expect(ok(await admin.get(`/approvals/${id}`))).toMatchObject({
      ...{ choice: "reject", text: "On Monday.", answered_by: "link" },
    });
    await visitor.reload();
    await visitor.getByText("The link is not valid").waitFor();
  } finally {
    await context.close();
  }
});
