/** @needs chromium */
import { beforeAll, describe, expect, test } from "@jest/globals";
import { settle } from "../support/settle.ts";
import { openSite } from "../support/site.ts";
import { ok } from "../support/tenancy.ts";

const site = await openSite();
const { page, admin } = site;

const scrolled = () => page.evaluate("Math.round(scrollY)");

describe("navigation restores the previous place", () => {
  const COUNT = 70;
  let run: string;

  beforeAll(async () => {
    const memory = {
      ...{ type: "semantic", scope: "institutional", content: "**So** it [is](https://example.com)." },
    };
    for (let n = 0; n < COUNT; n++) ok(await admin.post("/memories", { ...memory, title: `Fact ${n}` }));
    const steps = ["Dig", "Fill"].map((title) => ({
      ...{ step_key: title.toLowerCase(), title, completion_mode: "attestation" },
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

  test("a filter text and a tab are one history entry each, and the current one survives a reload", async () => {
    await site.go("/runs");
    await page.getByRole("link", { name: "Agents" }).click();
    for (const typed of ["d", "de", "def"]) {
      await page.getByLabel("Search agents").fill(typed);
      await page.waitForURL(`**/agents?q=${typed}`);
    }
    await page.goBack();
    await site.heading("Runs").waitFor();

    await page.getByRole("link", { name: "A hole" }).click();
    await page.getByRole("tab", { name: "History" }).click();
    await page.waitForURL("**?tab=history");
    // By mouse: the ring of the keyboard would hide the underline of the tab.
    expect(await page.locator(".tab:focus-visible").count()).toBe(0);
    await page.goBack();
    await page.goBack();
    await site.heading("Runs").waitFor();

    await site.go(`/runs/${run}`);
    await page.getByRole("group", { name: "Fill, Ready" }).click();
    await page.getByRole("heading", { name: "Fill", level: 2 }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Fill", level: 2 }).waitFor();
  });
});

describe("a session that several windows share", () => {
  /** Changes the session as another window would. */
  const elsewhere = (path: string, body: object) =>
    page.evaluate(
      `(async () => {
        const { csrf_token } = await (await fetch("/v1/auth/session")).json();
        const headers = { "X-CSRF-Token": csrf_token, "Content-Type": "application/json" };
        await fetch("/v1/auth/session${path}", { method: "POST", headers, body: ${JSON.stringify(JSON.stringify(body))} });
      })()`,
    );

  async function makeChannel(name: string): Promise<void> {
    await page.getByLabel("Name").fill(name);
    await site.inDialog("Create channel").click();
  }

  test("continues after another window renewed it", async () => {
    await site.go("/channels?create=1", page.getByRole("dialog"));
    await elsewhere("/renew", {});
    await makeChannel("renewed elsewhere");
    await site.heading("renewed elsewhere").waitFor();
    await site.go("/documents", site.heading("Documents"));
    await elsewhere("/renew", {});
    const file = { name: "renewed.txt", mimeType: "text/plain", buffer: Buffer.from("Once more.") };
    await page.getByLabel("Files to upload").setInputFiles(file);
    await page.getByRole("cell", { name: "renewed.txt" }).waitFor();
  });

  test("is renewed by the server's clock, and retried without an answer", async () => {
    const window = await page.context().newPage();
    await window.clock.install({ time: Date.now() + 86_400_000 });
    let renewals = 0;
    // The client asks twice by itself.
    await window.route("**/v1/auth/session/renew", (route) =>
      ++renewals <= 2 ? route.abort() : route.continue(),
    );
    await window.goto(`${site.server.root}/channels`);
    await window.getByRole("heading", { name: "Channels", level: 1 }).waitFor();
    await window.clock.fastForward("30:00");
    expect(renewals).toBe(0);
    await window.clock.fastForward("15:00");
    const renewed = window.waitForResponse("**/v1/auth/session/renew");
    await settle(async () => {
      await window.clock.runFor(1000);
      return renewals === 3;
    });
    expect((await renewed).status()).toBe(200);
    await window.close();
  });

  test("shows the user who signed in in another window, and does nothing in their name", async () => {
    const { email, password } = ok(
      await admin.post("/users", { email: "m@example.com", display_name: "Mel" }),
    );
    await site.go("/channels?create=1", page.getByRole("dialog"));
    await elsewhere("", { email, password });
    await makeChannel("of somebody else");
    await page.locator(".who").getByText("Mel").waitFor();
    const { channels } = ok(await admin.get("/channels"));
    expect(channels.map(({ name }: { name: string }) => name)).not.toContain("of somebody else");
    await elsewhere("", site.server.credentials.admin);
  });
});

test("keeps typed text when the session ends, and sends it after signing in again", async () => {
  await site.go("/memories");
  await site.button("Create memory").click();
  await site.fill({ Title: "Half written", Content: "The rest comes after the weekend." });
  await page.context().clearCookies();
  await site.inDialog("Create memory").click();
  const over = page.getByRole("dialog", { name: "Sign in" });
  await over.getByText("Your session has expired").waitFor();
  await page.keyboard.press("Escape");
  expect(await over.getByLabel("E-mail").inputValue()).toBe(site.server.credentials.admin.email);
  await over.getByLabel("Password").fill(site.server.credentials.admin.password);
  await over.getByRole("button", { name: "Sign in" }).click();
  await over.waitFor({ state: "detached" });
  expect(await page.getByLabel("Title").inputValue()).toBe("Half written");
  expect(await page.title()).toBe("Memories · Sensorium");
  expect(await page.getByRole("alert").count()).toBe(0);
  await site.confirm("Create memory", site.heading("Half written"));
});

describe("by keys", () => {
  test("the first Tab leads past the navigation, and a link to the page that it opens", async () => {
    await site.go("/runs", page.getByRole("link", { name: "A hole" }));
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

  test("on small screens Escape closes the navigation, and so does using the page", async () => {
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

  test("focus moves to the list when the pressed button disappears", async () => {
    const list = (name: string) => page.getByRole("region", { name }).and(page.locator(":focus"));
    await site.go("/memories");
    await site.button("Load more").press("Enter");
    await list("Memories").waitFor();
    const { id } = ok(await admin.post("/channels", { name: "keys" }));
    for (const event_type_glob of ["com.a", "com.b"])
      ok(await admin.post(`/channels/${id}/feeds`, { event_type_glob }));
    await site.go(`/channels/${id}`);
    await site.button("Delete feed com.a").press("Enter");
    await page.getByRole("dialog").getByRole("button").last().press("Enter");
    await list("Feeds").waitFor();
  });

  test("focus stays on Save after saving", async () => {
    await site.go(`/agents/${site.server.credentials.agent.id}?tab=settings`);
    await page.getByLabel("Description").fill("Reads invoices");
    const save = page.getByRole("button", { name: "Save", exact: true }).first();
    await save.press("Enter");
    await page.getByText("Saved.").first().waitFor();
    await save.and(page.locator(":focus")).waitFor();
  });

  test("a chosen filter keeps the focus", async () => {
    await site.go("/events");
    const filter = page.getByRole("checkbox", { name: "Waiting only" });
    await filter.press("Space");
    await page.waitForURL(/waiting=1/);
    await filter.and(page.locator(":focus")).waitFor();
  });
});

describe("missing pages and failures", () => {
  test.each([
    ["/events/evt_nothing", "There is no event evt_nothing"],
    ["/memories/nothing", "expected a uuid"],
  ])("%s reports not found, without a retry button", async (path, says) => {
    await site.go(path, page.getByRole("note").getByText(says));
    await page.getByRole("note").getByText("the address is wrong").waitFor();
    expect(await site.button("Try again").count()).toBe(0);
  });

  test("explains an answer of a proxy instead of the server, and recovers on retry", async () => {
    const bad = { status: 502, contentType: "text/html", body: "<html><h1>Bad gateway</h1></html>" };
    await page.route("**/v1/outputs*", (route) => route.fulfill(bad));
    await site.go("/outputs", page.getByRole("alert").getByText("The server cannot be reached"));
    expect(await page.getByRole("alert").textContent()).not.toContain("<");
    await page.unroute("**/v1/outputs*");
    await site.press("Try again", "No outputs yet");
  });

  test("the overview reports that the server does not answer, and recovers by itself", async () => {
    await page.route("**/v1/live", (route) => route.abort());
    await site.go("/", "The server is not responding");
    await page.unroute("**/v1/live");
    await page.getByRole("heading", { name: "Service health" }).waitFor();
    await page.getByText("The server is not responding").waitFor({ state: "detached" });
  });

  test("a read-only page asks to sign in when the session has ended", async () => {
    await page.route("**/v1/live", (route) => route.abort());
    await site.go("/", site.heading("Overview"));
    await page.context().clearCookies();
    const over = page.getByRole("dialog", { name: "Sign in" });
    await over.getByLabel("Password").fill(site.server.credentials.admin.password);
    await page.unroute("**/v1/live");
    await over.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Service health" }).waitFor();
  });

  test("a page whose script fails to load offers a retry, which loads it", async () => {
    const other = await page.context().newPage();
    await other.goto(`${site.server.root}/settings`);
    await other.route("**/assets/templates-*", (route) => route.abort());
    await other.getByRole("link", { name: "Templates" }).click();
    await other.getByText("This page could not be loaded").waitFor();
    await other.unroute("**/assets/templates-*");
    await other.getByRole("button", { name: "Reload" }).click();
    await other.getByRole("heading", { name: "Templates", level: 1 }).waitFor();
    await other.close();
  });

  test("a failed reload is reported above the old content and is retried", async () => {
    const steps = [{ step_key: "a", title: "Weed", completion_mode: "attestation" }];
    const { id } = ok(await admin.post("/runs", { goal: "A garden", steps }));
    await site.go(`/runs/${id}`, page.getByRole("button", { name: "Complete" }));
    const error = { code: "service_unavailable", message: "Not now.", request_id: "req_1", details: {} };
    await page.route(`**/v1/runs/${id}*`, (route) => route.fulfill({ status: 503, json: { error } }));
    ok(await admin.post(`/runs/${id}/steps/complete`, { step_key: "a" }));
    await page.getByRole("alert").getByText("Not now.").waitFor();
    await page.getByText("Weed").first().waitFor();
    await page.unroute(`**/v1/runs/${id}*`);
    // Nobody asks for it.
    await page.getByText("All steps are done. Close the run").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  test("a form says which of its choices could not be loaded", async () => {
    await page.route("**/v1/process-templates*", (route) => route.abort());
    await site.go("/runs");
    await site.press("Create run", page.getByRole("dialog").getByText("The server is not responding"));
    await page.unroute("**/v1/process-templates*");
    await page.keyboard.press("Escape");
  });

  test("a part that fails to load or run reports it and leaves the rest usable", async () => {
    // Until then there is no chart.
    ok(
      await site.admin.post("/events", {
        ...{ specversion: "1.0", id: "1", source: "/t", type: "com.example.first" },
      }),
    );
    const other = await page.context().newPage();
    await other.route("**/assets/chart-*.js", (route) => route.abort());
    await other.goto(site.server.root);
    await other.getByText("The chart could not be loaded").waitFor();
    await other.getByText("Latest events").waitFor();
    await other.unroute("**/assets/chart-*.js");
    // As WebKitGTK has it where the system names no language.
    await other.addInitScript("Object.defineProperty(navigator, 'language', { value: 'C' })");
    await other.reload();
    await other.getByText("The chart could not be shown").waitFor();
    await other.getByText("Latest events").waitFor();
    await other.close();
  });
});
