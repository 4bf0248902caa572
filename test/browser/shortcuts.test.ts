/** @needs chromium */
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { checkPage, openSite } from "../support/browser.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
const ids: Record<string, string> = {};
const palette = page.getByRole("dialog", { name: "Go to" });
const field = palette.getByRole("combobox");
/** The target that Enter opens. */
const chosen = palette.getByRole("option", { selected: true });

ids.agent = ok(await admin.post("/agents", { name: "billing-bot", delivery_mode: "poll" })).id;
const memory = { title: "Invoices are due in 30 days", content: "For ACME.", type: "semantic" };
ids.memory = ok(await admin.post("/memories", { ...memory, scope: "institutional" })).id;
ids.run = ok(await admin.post("/runs", { goal: "Close the quarter" })).id;
ids.channel = ok(await admin.post("/channels", { name: "finance" })).id;
const event = {
  ...{ specversion: "1.0", source: "urn:shop", type: "com.example.order.placed", subject: "order-1842" },
};
ids.event = ok(await admin.post("/events", { ...event, id: "shop-77" })).event_id;
const steps = [{ step_key: "a", title: "A", completion_mode: "attestation" }];
ok(await admin.post("/process-templates", { name: "Month's end", slug: "month-end", steps }));
const file_content = Buffer.from("# Terms\n").toString("base64");
const file = { filename: "terms-of-acme.md", mime_type: "text/markdown", file_content };
ids.document = ok(await admin.post("/documents", file)).document_id;

beforeEach(async () => {
  await site.go("/agents", page.getByRole("link", { name: "billing-bot" }));
});
afterAll(site.close);

describe("the command palette", () => {
  test.each([
    ["a page", "dead", () => "/dead-letters"],
    ["an agent", "billing", () => `/agents/${ids.agent}`],
    ["a memory", "due in 30", () => `/memories/${ids.memory}`],
    ["a run", "quarter", () => `/runs/${ids.run}`],
    ["an event's type", "com.example.or", () => `/events/${ids.event}`],
    ["an event's subject", "order-1842", () => `/events/${ids.event}`],
    ["an event's id", "shop-77", () => `/events/${ids.event}`],
    ["a channel", "finance", () => `/channels/${ids.channel}`],
    ["a template", "month-e", () => "/templates/month-end"],
    ["a document", "terms-of", () => `/documents/${ids.document}`],
  ])("opens %s by its name, by keyboard alone", async (_, text, target) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(text);
    await chosen.waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${target()}`);
    await palette.waitFor({ state: "detached" });
  });

  test("acts: begins something new, changes the theme, and searches on", async () => {
    const act = async (text: string) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(text);
      await page.keyboard.press("Enter");
    };
    const theme = () => page.evaluate("document.documentElement.dataset.theme ?? 'system'");
    await act("dark th");
    expect(await theme()).toBe("dark");
    await act("system");
    expect(await theme()).toBe("system");
    await act("create ag");
    await page.getByRole("dialog", { name: "New agent" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("due when");
    await palette.getByRole("option", { name: "Memories about “due when”" }).click();
    await page.waitForURL(/\/memories\?q=due%20when$/);
  });

  test("begins with the recent places, and the arrows go round", async () => {
    await site.go(`/runs/${ids.run}`, site.heading("Close the quarter"));
    await site.go(`/memories/${ids.memory}`, site.heading("Invoices are due in 30 days"));
    await page.keyboard.press("Control+k");
    expect(await chosen.textContent()).toBe("Close the quarter");
    await page.keyboard.press("ArrowDown");
    expect(await chosen.textContent()).toBe("Agents");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    expect(await chosen.textContent()).toMatch(/^Your account/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/runs/${ids.run}`);
  });

  test("keeps the focus while it is open, and gives it back", async () => {
    const button = site.button("Create agent");
    await button.focus();
    await page.keyboard.press("Control+k");
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press("Tab");
    expect(await page.evaluate("!document.querySelector('main').contains(document.activeElement)")).toBe(
      true,
    );
    await field.focus();
    await page.keyboard.press("Escape");
    await palette.waitFor({ state: "detached" });
    expect(await button.and(page.locator(":focus")).count()).toBe(1);
  });

  test("says so if nothing matches, and is accessible", async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type("nothing like this");
    await palette.getByText("No matches.").waitFor();
    await field.fill("~");
    await palette.getByText("Keep typing.").waitFor();
    await field.fill("in");
    await palette.getByRole("option", { name: /Invoices/ }).waitFor();
    expect(await checkPage(page, "palette")).toEqual([]);
  });
});

describe("keyboard shortcuts", () => {
  test("j, k and the arrows go through the rows, which Enter opens", async () => {
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await page.keyboard.press("j");
    const first = await focused();
    expect(first).not.toBe("billing-bot");
    await page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("billing-bot");
    const framed = "getComputedStyle(document.activeElement.closest('tr')).outlineStyle";
    expect(await page.evaluate(framed)).toBe("solid");
    await page.keyboard.press("k");
    expect(await focused()).toBe(first);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/agents/${ids.agent}`);
  });

  test("/ goes to the page's search, whose text keeps its keys", async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("j/k?");
    expect(await page.getByRole("searchbox", { name: "Search agents" }).inputValue()).toBe("j/k?");
    await site.go("/memories/health", site.heading("Memory health"));
    await page.keyboard.press("/");
    await palette.waitFor();
  });

  test("? shows them, and single keys can be turned off", async () => {
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    expect(await checkPage(page, "shortcuts")).toEqual([]);
    await help.getByRole("checkbox", { name: /Single-key shortcuts/ }).uncheck();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    await page.keyboard.press("?");
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    expect(await help.count()).toBe(0);
    await page.evaluate("localStorage.removeItem('sensorium.keys')");
  });
});

test("recent places are forgotten at sign-out, and nothing went wrong in the page", async () => {
  expect(await page.evaluate("localStorage.getItem('sensorium.recent')")).toContain("Agents");
  await site.press("Sign out", page.getByLabel("Password"));
  expect(await page.evaluate("localStorage.getItem('sensorium.recent')")).toBeNull();
  expect(site.problems).toEqual([]);
});
