/** @needs chromium */
import { describe, expect, test } from "@jest/globals";
import type { Route } from "playwright-core";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent } = site;

async function remember(title: string, more: object = {}): Promise<string> {
  const memory = { title, content: title, type: "semantic", scope: "institutional", ...more };
  return ok(await agent.post("/memories", memory)).id;
}

describe("maintenance of memories", () => {
  test("a relationship is made with a memory found by a part of its title, and deleted", async () => {
    const [cause, effect] = [await remember("The disk was full"), await remember("The outage of May")];
    await site.go(`/memories/${effect}?tab=relationships`);
    await site.button("More actions").click();
    await page.getByRole("menuitem", { name: "Add relationship…" }).click();
    const box = page.getByRole("combobox", { name: "Target memory" });
    await box.fill("disk");
    await page.getByRole("option", { name: /The disk was full/ }).click();
    await page.getByLabel("Relationship type").selectOption({ label: "caused by" });
    await site.confirm("Add relationship", "Relationship added.");
    await page.reload();
    await site.button(/^Delete: caused by The disk was full/).click();
    await site.confirm("Delete relationship", "Relationship deleted.");
    await page.getByText("No relationships yet").waitFor();
    expect(ok(await admin.get(`/memories/${cause}/relationships`)).count).toBe(0);
  });

  test("changing one field of a memory keeps an agent's concurrent changes", async () => {
    const id = await remember("The shop opens at nine");
    await site.go(`/memories/${id}`);
    await site.button("Edit").click();
    await page.getByLabel("Tags").fill("hours");
    ok(await agent.patch(`/memories/${id}`, { content: "At ten on Sundays." }));
    await site.confirm("Save", "Saved.");
    expect(ok(await admin.get(`/memories/${id}`))).toMatchObject({
      content: "At ten on Sundays.",
      tags: ["hours"],
    });
  });

  test("an erasure shows its counts first, then erases permanently and shows a receipt", async () => {
    const metadata = { subject: "customer-4711" };
    const gone = [await remember("Likes tea", { metadata }), await remember("Moved to Rome", { metadata })];
    const kept = await remember("The shop opens at nine");
    await site.go("/memories/health", page.getByRole("region", { name: "Unrelated" }));
    await page.getByRole("link", { name: "Erase permanently" }).click();
    await page.getByRole("textbox", { name: "Subject" }).fill("customer-4711");
    await site.press("Preview erasure", site.button("Erase 2 memories permanently"));
    // Nothing is gone yet, and another question takes the answer away.
    ok(await admin.get(`/memories/${gone[0]}`));
    await page.getByRole("textbox", { name: "Subject" }).fill("nobody");
    await site.button("Erase 2 memories permanently").waitFor({ state: "detached" });
    await site.press("Preview erasure", "There is nothing to erase.");
    await page.getByRole("textbox", { name: "Subject" }).fill("customer-4711");
    await site.button("Preview erasure").click();
    await site.button("Erase 2 memories permanently").click();
    expect(await site.inDialog("Erase permanently").isDisabled()).toBe(true);
    await page.getByLabel("Type “erase” to confirm").fill("erase");
    await site.inDialog("Erase permanently").click();
    const receipt = page.locator(".secret code");
    await receipt.waitFor();
    expect(await receipt.textContent()).toMatch(/^ey[\w-]+\.[\w-]+\.[\w-]+$/);
    for (const id of gone) expect((await admin.get(`/memories/${id}`)).status).toBe(404);
    ok(await admin.get(`/memories/${kept}`));
  });

  test("does not show old counts for a new question", async () => {
    await remember("Likes coffee", { metadata: { subject: "customer-1" } });
    await site.go("/memories/erase");
    const subject = page.getByRole("textbox", { name: "Subject" });
    const late = await held("**/v1/memories/erase");
    await subject.fill("customer-1");
    await site.button("Preview erasure").click();
    await late.asked;
    await subject.fill("customer-2");
    await late.release();
    // The late answer has arrived: the button is back.
    await page.locator("button[type=submit]:not([aria-busy])").waitFor();
    expect(await site.button(/^Erase .* permanently$/).count()).toBe(0);
  });
});

/** Holds back the answer to the page's request until `release`. */
async function held(url: string) {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const handler = async (route: Route) => {
    asked.resolve();
    await released.promise;
    // The page may not wait for it any more.
    await route.continue().catch(() => {});
    answered.resolve();
  };
  await page.route(url, handler);
  return {
    asked: asked.promise,
    async release() {
      released.resolve();
      await answered.promise;
      await page.unroute(url, handler);
    },
  };
}

describe("long lists", () => {
  test("are paged beyond 200, and filtered by typing", async () => {
    const made = Array.from({ length: 205 }, (_, n) =>
      admin.post("/agents", { name: `worker ${String(n).padStart(3, "0")}`, delivery_mode: "poll" }),
    );
    for (const answer of await Promise.all(made)) ok(answer);
    await site.go("/agents");
    const rows = page.getByRole("row");
    for (const shown of [100, 150, 200, 206]) {
      await site.button("Load more").click();
      // The header is a row, too.
      await rows.nth(shown).waitFor();
      expect(await rows.count()).toBe(shown + 1);
    }
    expect(await site.button("Load more").count()).toBe(0);
    await page.getByLabel("Search agents").fill("ker 20");
    await rows.nth(6).waitFor({ state: "detached" });
    await rows.nth(5).waitFor();
    await page.getByRole("link", { name: "worker 204" }).waitFor();
    expect(await rows.count()).toBe(6);
    expect(page.url()).toContain("q=ker+20");
  });

  test("a late next page is not appended to another list", async () => {
    await site.go("/agents?status=all", page.getByRole("row").nth(50));
    const late = await held("**/v1/agents?*offset=50*");
    await site.button("Load more").click();
    await late.asked;
    await page.getByText("Inactive", { exact: true }).click();
    await page.getByText("No inactive agents").waitFor();
    await late.release();
    // A later request is answered later.
    await page.evaluate(`fetch("/v1/agents?limit=1&offset=50").then((answer) => answer.text())`);
    await page.getByText("No inactive agents").waitFor();
  });

  test("a space that one types on the way to the next word is not lost", async () => {
    await site.go("/agents");
    const box = page.getByLabel("Search agents");
    await box.pressSequentially("my ");
    await page.waitForURL("**/agents?q=my");
    await box.pressSequentially("bot");
    await page.waitForURL("**/agents?q=my+bot");
    expect(await box.inputValue()).toBe("my bot");
  });
});

/** Resolves after so many `stats` messages. */
const STATS_TOLD = `new Promise((done) => {
  let told = 0;
  const source = new EventSource("/v1/live");
  source.addEventListener("stats", () => ++told === 3 && done(source.close()));
})`;

/** Returns the page's requests until then. */
async function askedUntilTold(): Promise<string[]> {
  const asked: string[] = [];
  const listen = (request: { url(): string }) => asked.push(request.url());
  page.on("request", listen);
  await page.evaluate(STATS_TOLD);
  page.off("request", listen);
  return asked;
}

test("pages follow the server a run updates live, without requests while nothing changes", async () => {
  const steps = [
    { step_key: "dig", title: "Dig", completion_mode: "attestation" },
    { step_key: "fill", title: "Fill", depends_on: ["dig"], completion_mode: "attestation" },
  ];
  const { id } = ok(await admin.post("/runs", { goal: "A hole", steps }));
  await site.go(`/runs/${id}`, page.getByRole("group", { name: "Dig, Ready" }));
  ok(await agent.post(`/runs/${id}/steps/complete`, { step_key: "dig" }));
  await page.getByRole("group", { name: "Dig, Completed" }).waitFor();
  await page.getByRole("group", { name: /Fill, Ready/ }).waitFor();
  // By then all its changes were reported.
  await page.evaluate(STATS_TOLD);
  expect((await askedUntilTold()).filter((url) => !url.endsWith("/v1/live"))).toEqual([]);
});

test.each(["/", "/events", "/dead-letters"])("%s follows the server by one connection", async (path) => {
  await site.go(path);
  await page.evaluate(STATS_TOLD);
  const asked = await askedUntilTold();
  // The stream of the statistics above.
  expect(asked.filter((url) => url.endsWith("/v1/live"))).toHaveLength(1);
});

test("keeps a note on a step when somebody else is faster", async () => {
  const criteria = ["wide", "deep"].map((key) => ({ key, description: `It is ${key}` }));
  const dig = {
    ...{ step_key: "dig", title: "Dig", completion_mode: "attestation", completion_criteria: criteria },
  };
  const fill = { step_key: "fill", title: "Fill", depends_on: ["dig"], completion_mode: "attestation" };
  const { id } = ok(await admin.post("/runs", { goal: "Another hole", steps: [dig, fill] }));
  await site.go(`/runs/${id}`);
  await site.button("Complete").click();
  await page.getByRole("dialog").getByLabel("It is wide").check();
  await page.getByLabel("What was done").fill("I measured it.");
  ok(await agent.post(`/runs/${id}/steps/complete`, { step_key: "dig", criterion_key: "wide" }));
  await page.getByRole("dialog").getByLabel("It is wide").waitFor({ state: "detached" });
  // The remaining criterion was not ticked.
  expect(await site.inDialog("Attest selected").isDisabled()).toBe(true);
  ok(await agent.post(`/runs/${id}/steps/complete`, { step_key: "dig", criterion_key: "deep" }));
  await page.getByRole("dialog").getByLabel("It is deep").waitFor({ state: "detached" });
  expect(await page.getByLabel("What was done").inputValue()).toBe("I measured it.");
  await site.confirm("Complete step", page.getByRole("alert").getByText("is already completed"));
  await site.confirm("Cancel", page.getByRole("heading", { name: "Fill", level: 2 }));
});

describe("by keyboard alone", () => {
  test("a dialog takes, traps and restores the focus", async () => {
    await site.go("/channels");
    await site.button("Create channel").first().focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    const name = page.getByRole("dialog").getByLabel("Name");
    await name.and(page.locator(":focus")).waitFor();
    for (let presses = 0; presses < 8; presses++) {
      await page.keyboard.press("Tab");
      const inside = "document.activeElement === document.body || !!document.activeElement.closest('dialog')";
      expect(await page.evaluate(inside)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await site.button("Create channel").first().and(page.locator(":focus")).waitFor();
  });

  test("arrow keys select options", async () => {
    const { id } = ok(await admin.post("/channels", { name: "keys" }));
    await site.go(`/channels/${id}`);
    await site.button("Add member").click();
    const box = page.getByRole("combobox", { name: "Agent" });
    await box.press("ArrowDown");
    await page.getByRole("option").nth(1).waitFor();
    await box.press("ArrowDown");
    const chosen = await page.getByRole("option", { selected: true }).textContent();
    await box.press("Enter");
    await page.getByRole("option").first().waitFor({ state: "detached" });
    expect(chosen).toContain(await box.inputValue());
    await box.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(ok(await admin.get(`/channels/${id}/members`)).total).toBe(1);
  });
});
