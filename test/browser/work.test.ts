/** @needs chromium */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { checkPage } from "../support/browser.ts";
import { DRAWN } from "../support/keyboard.ts";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin, agent } = site;

const attested = { completion_mode: "attestation" };

describe("the list of runs", () => {
  beforeAll(async () => {
    ok(await admin.post("/projects", { key: "shop", name: "The shop" }));
    const steps = [{ step_key: "a", title: "A", ...attested }];
    const template = { name: "Release", slug: "release", steps };
    const template_id = ok(await admin.post("/process-templates", template)).id;
    ok(await admin.post("/runs", { goal: "Release 1.0", template_id }));
    ok(await admin.post("/runs", { goal: "Release 2.0", template_id, project_id: "shop" }));
    const { id } = ok(await admin.post("/runs", { goal: "Move the shop", project_id: "shop" }));
    ok(await admin.post(`/runs/${id}/close`, { outcome: "achieved" }));
  });

  const goals = () => page.getByRole("row").getByRole("link").allInnerTexts();
  const hasRows = (count: number) => settle(async () => (await page.locator("tbody tr").count()) === count);

  test("is searched and filtered, and the address keeps it", async () => {
    await site.go("/runs");
    await hasRows(3);
    await page.getByLabel("Search runs").fill("release");
    await hasRows(2);
    await page.getByLabel("Project").selectOption({ label: "The shop" });
    await hasRows(1);
    expect(await goals()).toEqual(["Release 2.0"]);
    await page.reload();
    await hasRows(1);
    expect(await goals()).toEqual(["Release 2.0"]);
    await site.button("Clear query").click();
    await hasRows(2);
    await page.getByLabel("Template").selectOption({ label: "Release" });
    await hasRows(1);
    await page.getByText("Closed", { exact: true }).first().click();
    await page.getByText("No matching runs").waitFor();
    expect(new URL(page.url()).search).toBe("?project=shop&template=release&status=closed");
    await site.button("Clear filters").click();
    await hasRows(3);
    expect(await checkPage(page, "runs-filters")).toEqual([]);
  });
});

describe("a step", () => {
  test("has its criteria ticked where they stand, and the last one completes it", async () => {
    const completion_criteria = ["facts", "tone"].map((key) => ({
      key,
      description: `The ${key} are right`,
    }));
    const steps = [
      { step_key: "review", title: "Review", ...attested, completion_criteria },
      { step_key: "ship", title: "Ship", ...attested, depends_on: ["review"] },
    ];
    const { id } = ok(await admin.post("/runs", { goal: "Check it", steps }));
    await site.go(`/runs/${id}`);
    const facts = page.getByRole("checkbox", { name: "The facts are right" });
    const tone = page.getByRole("checkbox", { name: "The tone are right" });
    await facts.focus();
    await page.keyboard.press("Space");
    await settle(() => facts.isChecked());
    expect(await facts.and(page.locator(":focus")).count()).toBe(1);
    expect(ok(await admin.get(`/runs/${id}`)).steps[0].attested_criteria).toEqual(["facts"]);
    // What is attested stays so.
    await page.keyboard.press("Space");
    expect(await facts.isChecked()).toBe(true);
    await tone.click();
    await page.getByText("Completed: Review").waitFor();
    expect(ok(await admin.get(`/runs/${id}`)).steps.map(({ status }: { status: string }) => status)).toEqual([
      "completed",
      "ready",
    ]);
    // The panel stays on the step that was ticked.
    await page.getByRole("heading", { name: /^Review/ }).waitFor();
    expect(await checkPage(page, "run-criteria")).toEqual([]);
  });

  test("that waits for an event says so, with its deadline, until the event completes it", async () => {
    await site.go("/templates/new");
    await page.getByLabel("Name", { exact: true }).fill("Orders");
    await page.getByLabel("Title", { exact: true }).fill("Payment");
    await page.getByText("Event and deadline").click();
    await page.getByLabel("Wait for event").fill("com.example.order.paid");
    await page.getByLabel("Filter", { exact: true }).fill("data.order == run.values.order");
    await page.getByLabel("Deadline in hours").fill("5.5");
    await page.getByLabel("At the deadline").selectOption({ label: "Skip the step" });
    await site.press("Create template", "Event com.example.order.paid");
    await site.button("Create run").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Goal").fill("Order 7");
    await dialog.getByLabel("Values").fill("order = 7");
    await dialog.getByRole("button", { name: "Create run" }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
    await page
      .getByText(/^Waits for com.example.order.paid since (now|\d+ s ago)/)
      .first()
      .waitFor();
    await page.getByText("List", { exact: true }).click();
    await page
      .getByText(/Waits for com.example.order.paid since (now|\d+ s ago) · deadline in 5 h/)
      .waitFor();
    expect(await checkPage(page, "run-waits")).toEqual([]);
    const paid = { specversion: "1.0", type: "com.example.order.paid", source: "/shop", id: "7" };
    ok(await agent.post("/events", { ...paid, data: { order: 7 } }));
    // The page follows the run.
    await page.getByText("Event com.example.order.paid from /shop").waitFor();
    await page.getByRole("link", { name: "com.example.order.paid" }).waitFor();
    await page.getByText("Graph", { exact: true }).click();
    expect(await checkPage(page, "run-waited")).toEqual([]);
  });

  test("that a person offers must be accepted by somebody else", async () => {
    const steps = [
      { step_key: "write", title: "Write", completion_mode: "handoff_accepted" },
      { step_key: "read", title: "Read", ...attested, depends_on: ["write"] },
    ];
    const { id } = ok(await admin.post("/runs", { goal: "Two pairs of eyes", steps }));
    await site.go(`/runs/${id}`);
    await page.getByLabel("Note for the next assignee").fill("Please look");
    await site.press("Offer handoff", "Someone else must accept your offer");
    expect(await site.button("Accept").count()).toBe(0);
    await site.press("Withdraw", "Withdrawn.");
    ok(await agent.post(`/runs/${id}/handoff-offers`, { step_key: "write" }));
    await site.press("Accept", "Accepted. The step is completed.");
  });
});

describe("a run of many steps", () => {
  const steps = Array.from({ length: 14 }, (_, at) => ({
    ...{ step_key: `s${at}`, title: `Part ${at + 1}`, ...attested },
    depends_on: at === 0 ? [] : [`s${at - 1}`],
  }));
  /** How large the words of the graph are drawn: 1 is 12 pixels. */
  const SCALE = `(() => {
    const line = document.querySelector(".step-line");
    return line.getBoundingClientRect().height / line.offsetHeight;
  })()`;

  test("is readable as a graph and as a list, and its steps show what was done", async () => {
    const { id } = ok(await admin.post("/runs", { goal: "Month end", steps }));
    const step = { step_key: "s0", what_makes_this_done: "All is in the folder." };
    ok(await admin.post(`/runs/${id}/steps/complete`, step));
    ok(await admin.post(`/runs/${id}/steps/skip`, { step_key: "s1", reason: "Not this month" }));
    await site.go(`/runs/${id}?step=s0`, "All is in the folder.");
    await page.getByRole("img", { name: "Steps and dependencies: overview" }).waitFor();
    expect(await page.evaluate(SCALE)).toBeGreaterThan(0.91);
    const times = page.getByRole("list", { name: "Steps over time" });
    const timed = times.getByRole("listitem");
    await timed.filter({ hasText: /^Part 1Waited .+; \S+, completed/s }).waitFor();
    await timed.filter({ hasText: /^Part 14Not ready yet/ }).waitFor();
    const fit = site.button("Fit the whole run");
    expect(await fit.isDisabled()).toBe(true);
    await site.button("Show less time").click();
    await fit.click();
    expect(await fit.isDisabled()).toBe(true);
    await page.getByText("List", { exact: true }).click();
    await page.reload();
    await page.getByRole("button", { name: /Part 2 .*Skipped/ }).click();
    await page.getByText("Not this month").waitFor();
    expect(await checkPage(page, "run-list")).toEqual([]);
    await page.getByText("Graph", { exact: true }).click();
    await page.getByRole("tab", { name: "History" }).click();
    const done = page.getByRole("list", { name: "History" }).getByRole("listitem");
    await done.filter({ hasText: "Not this month" }).waitFor();
    // Empty for a moment while it is read again.
    const shown = await settle(async () => {
      const texts = await done.allInnerTexts();
      return texts.length > 0 && texts;
    });
    expect(shown.map((text) => text.split("\n")[0])).toEqual(["Skipped", "Completed", "Created"]);
  });
});

describe("the template editor", () => {
  const node = (title: string) => page.locator(".react-flow__node", { hasText: title });
  const save = page.getByRole("button", { name: "Save version" });

  /** Drags from the end of a step to another step. */
  async function drag(from: string, to: string): Promise<void> {
    // A changed graph is fitted into the view.
    await page.evaluate(DRAWN);
    const start = await node(from).locator(".source").boundingBox();
    const end = await node(to).locator(".target").boundingBox();
    if (!start || !end) throw new Error("a step is not in the picture");
    await page.mouse.move(start.x + start.width / 2, start.y + start.height / 2);
    await page.mouse.down();
    await page.mouse.move(end.x + end.width / 2, end.y + end.height / 2, { steps: 8 });
    await page.mouse.up();
  }

  test("makes dependencies by dragging, refuses circles, and has its buttons in view", async () => {
    const steps = ["Alpha", "Beta", "Gamma"].map((title) => ({
      ...{ step_key: title.toLowerCase(), title, ...attested },
    }));
    const chained = steps.map((step, at) => ({ ...step, depends_on: at === 1 ? ["alpha"] : [] }));
    ok(await admin.post("/process-templates", { name: "Drawn", slug: "drawn", steps: chained }));
    await page.setViewportSize({ width: 1440, height: 900 });
    await site.go("/templates/drawn/edit");
    await node("Gamma").waitFor();
    const { y = 900, height = 0 } = (await save.boundingBox()) ?? {};
    expect(y + height).toBeLessThanOrEqual(900);
    await drag("Beta", "Gamma");
    await page.getByRole("group", { name: "Gamma, after beta" }).waitFor();
    await drag("Gamma", "Alpha");
    await page
      .getByText("“Alpha” cannot depend on “Gamma”: that already depends on “Alpha”, so neither could start.")
      .waitFor();
    expect(await checkPage(page, "template-edit")).toEqual([]);
    // By keyboard, the same is in the form of the step.
    await node("Gamma").focus();
    await page.keyboard.press("Enter");
    const alpha = page.getByRole("checkbox", { name: "Alpha" });
    await alpha.focus();
    await page.keyboard.press("Space");
    await page.getByRole("group", { name: "Gamma, after beta, alpha" }).waitFor();
    await save.click();
    await page.waitForURL("**/templates/drawn");
    const saved = ok(await admin.get("/process-templates/drawn"));
    expect(saved.steps.map(({ depends_on }: { depends_on: string[] }) => depends_on)).toEqual([
      [],
      ["alpha"],
      ["beta", "alpha"],
    ]);
  });
});
