/**
 * `npm run screenshots` writes the pictures of the console in `docs/img`, in both themes, after `npm run console:build`:
 * pages of the demonstration (extensions/demo) of a real server. It needs Debian's chromium.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page } from "playwright-core";
import { firstAgent } from "../support/agents.ts";
import { type Person, signIn, startBrowser } from "../support/chromium.ts";
import { api } from "../support/http.ts";
import { DRAWN } from "../support/keyboard.ts";
import { startServer } from "../support/server.ts";
import { ok, signIn as tokenOf } from "../support/tenancy.ts";

const IMAGES = join(import.meta.dirname, "../../docs/img");
/** 1440 × 900 pixels, with room for a whole page. */
const VIEW = { viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 0.9 };
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5 };
const MAX_BYTES = 200_000;

await using opened = new AsyncDisposableStack();
const server = await startServer();
opened.defer(() => server.stop());
const { person, tenant }: { person: Person; tenant: { slug: string } } = ok(
  await (await firstAgent(server)).post("/demo"),
);
const admin = api(server, await tokenOf(server, person, tenant.slug));
const [order] = ok(await admin.get("/events?id=order-1842")).events;
const [run] = ok(await admin.get("/runs"));
const [approval] = ok(await admin.get("/approvals")).approvals;
const memory = ok(await admin.get("/memories?search=returned+at+any+time")).memories[0];

const browser = await startBrowser();
opened.defer(() => browser.close());
const wide = await visit(VIEW);
const phone = await visit(PHONE);
await picture(wide, "console", `/events/${order.event_id}`, "data.total > 100");
await picture(wide, "run", `/runs/${run.id}`, "Check price and stock");
await picture(wide, "approval", `/approvals/${approval.id}`, "Refunding an order");
await picture(phone, "approval-phone", `/approvals/${approval.id}`, "Refunding an order");
await picture(wide, "history", `/memories/${memory.id}?tab=history`, "What held when", async () => {
  const slider = wide.getByRole("slider");
  for (let month = 0; month < 2; month++) await slider.press("PageDown");
  await slider.blur();
});
await picture(wide, "map", "/memories/map", "5 memories", async () => {
  await wide.locator(`[data-id="${memory.id}"]`).click();
  await wide.getByText("Two glass shades").waitFor();
});

async function visit(view: BrowserContextOptions): Promise<Page> {
  const page = await (await browser.newContext({ ...view, timezoneId: "UTC" })).newPage();
  await signIn(page, server.root, person);
  return page;
}

/** Saves a page in both themes once it shows the text, after what is done on it. */
async function picture(page: Page, name: string, at: string, text: string, act = async () => {}) {
  await page.goto(`${server.root}${at}`);
  await page.getByText(text).first().waitFor();
  await act();
  for (const colorScheme of ["light", "dark"] as const) {
    const path = join(IMAGES, `${name}-${colorScheme}.png`);
    await page.emulateMedia({ colorScheme });
    await page.evaluate(DRAWN);
    await page.screenshot({ path, fullPage: page === phone, animations: "disabled" });
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; the limit is ${MAX_BYTES}`);
    process.stdout.write(`${path}: ${size} bytes\n`);
  }
}
