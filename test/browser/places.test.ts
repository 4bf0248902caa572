/** @needs chromium */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openSite } from "../support/browser.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;
afterAll(site.close);

const scrolled = () => page.evaluate("Math.round(scrollY)");

describe("one comes back to where one was", () => {
  const COUNT = 70;
  let run: string;

  beforeAll(async () => {
    const memory = {
      type: "semantic",
      scope: "institutional",
      content: "**So** it [is](https://example.com).",
    };
    for (let n = 0; n < COUNT; n++) ok(await admin.post("/memories", { ...memory, title: `Fact ${n}` }));
    const steps = ["Dig", "Fill"].map((title) => ({
      step_key: title.toLowerCase(),
      title,
      completion_mode: "attestation",
    }));
    run = ok(await admin.post("/runs", { goal: "A hole", steps })).id;
  });

  test("Back to a long list finds it as long, and as far down, as it was left", async () => {
    await site.go("/memories");
    const rows = page.getByRole("row");
    // The header is a row, too.
    await rows.nth(50).waitFor();
    await site.button("Load more").click();
    await rows.nth(COUNT).waitFor();
    const last = page.getByRole("link", { name: "Fact 0", exact: true });
    await last.scrollIntoViewIfNeeded();
    const before = await scrolled();
    expect(before).toBeGreaterThan(1000);
    await last.click();
    await site.heading("Fact 0").waitFor();
    expect(await scrolled()).toBe(0);
    await page.goBack();
    await last.waitFor();
    expect(await rows.count()).toBe(COUNT + 1);
    expect(await scrolled()).toBe(before);
  });

  test("a list says what its memories say, without the marks of Markdown", async () => {
    await site.go("/memories");
    const row = page.getByRole("row", { name: "Fact 69" });
    await row.getByText("So it is.", { exact: true }).waitFor();
  });

  test("what is typed to narrow a list is one step back, and the step looked at stays after a reload", async () => {
    await site.go("/runs");
    await page.getByRole("link", { name: "Agents" }).click();
    for (const typed of ["d", "de", "def"]) {
      await page.getByLabel("Find an agent").fill(typed);
      await page.waitForURL(`**/agents?q=${typed}`);
    }
    await page.goBack();
    await site.heading("Runs").waitFor();

    await site.go(`/runs/${run}`);
    await page.getByRole("group", { name: "Fill, Ready" }).click();
    await page.getByRole("heading", { name: "Fill", level: 2 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Fill", level: 2 }).waitFor();
  });
});

test("a session that ends keeps what was typed: one signs in again, and sends it", async () => {
  await site.go("/memories");
  await site.button("Remember").click();
  await page.getByLabel("Title").fill("Half written");
  await page.getByLabel("Content").fill("The rest comes after the weekend.");
  await page.context().clearCookies();
  await site.inDialog("Remember").click();
  const over = page.getByRole("dialog", { name: "Sign in" });
  await over.getByText("Your session is over").waitFor();
  await page.keyboard.press("Escape");
  expect(await over.getByLabel("E-mail").inputValue()).toBe(site.server.credentials.admin.email);
  await over.getByLabel("Password").fill(site.server.credentials.admin.password);
  await over.getByRole("button", { name: "Sign in" }).click();
  await over.waitFor({ state: "detached" });
  expect(await page.getByLabel("Title").inputValue()).toBe("Half written");
  expect(await page.title()).toBe("Memories · Afferent");
  expect(await page.getByRole("alert").count()).toBe(0);
  await site.inDialog("Remember").click();
  await site.heading("Half written").waitFor();
});

describe("by keys", () => {
  test("the first Tab leads past the navigation, and a link to the page that it opens", async () => {
    await site.go("/runs");
    await page.getByRole("link", { name: "A hole" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#main$/);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.closest('main') !== null")).toBe(true);
    await page.getByRole("link", { name: "Channels" }).focus();
    await page.keyboard.press("Enter");
    await site.heading("Channels").waitFor();
    await page.locator("main:focus").waitFor();
  });

  test("where there is little room Escape closes the navigation, and going on in the page does", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await site.go("/channels");
    await site.button("Open navigation").press("Enter");
    await page.getByRole("navigation", { name: "Console" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("navigation", { name: "Console" }).waitFor({ state: "hidden" });
    await site.button("Open navigation").and(page.locator(":focus")).press("Enter");
    await page.getByRole("button", { name: "Sign out" }).focus();
    await page.keyboard.press("Tab");
    await page.getByRole("navigation", { name: "Console" }).waitFor({ state: "hidden" });
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("a filter that is chosen keeps the focus", async () => {
    await site.go("/events");
    const filter = page.getByRole("checkbox", { name: "Only unmatched" });
    await filter.press("Space");
    await page.waitForURL(/unmatched=1/);
    await filter.and(page.locator(":focus")).waitFor();
  });
});

describe("what cannot be shown", () => {
  test.each([
    ["/events/evt_nothing", "There is no event evt_nothing"],
    ["/memories/nothing", "expected a uuid"],
  ])("%s says that nothing is there, and offers no second try", async (path, says) => {
    await site.go(path);
    await page.getByRole("note").getByText(says).waitFor();
    await page.getByRole("note").getByText("the address is mistyped").waitFor();
    expect(await site.button("Try again").count()).toBe(0);
  });

  test("a proxy that answers in the server's place is told in words, and trying again helps", async () => {
    const bad = { status: 502, contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };
    await page.route("**/v1/channels*", (route) => route.fulfill(bad));
    await site.go("/channels");
    await page.getByRole("alert").getByText("The server cannot be reached").waitFor();
    expect(await page.getByRole("alert").textContent()).not.toContain("<");
    await page.unroute("**/v1/channels*");
    await site.button("Try again").click();
    await page.getByText("No channels yet").waitFor();
  });

  test("the overview says that the server does not answer, and goes on by itself when it does", async () => {
    await page.route("**/v1/live", (route) => route.abort());
    await site.go("/");
    await page.getByText("The server does not answer").waitFor();
    await page.unroute("**/v1/live");
    await page.getByText("Last 15 minutes").waitFor();
  });
});

test("nothing went wrong on the way, and no other host was asked", () => {
  expect(site.problems).toEqual([]);
});
