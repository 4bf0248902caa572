/**
 * `npm run screenshots` writes the pictures of the console in `docs/img`, in both themes, after `npm run console:build`:
 * pages of the demonstration (extensions/demo) of a real server. It needs Debian's chromium.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { firstAgent } from "../support/agents.ts";
import { type Person, signIn, startBrowser } from "../support/chromium.ts";
import { api } from "../support/http.ts";
import { DRAWN } from "../support/keyboard.ts";
import { startServer } from "../support/server.ts";
import { ok, signIn as tokenOf } from "../support/tenancy.ts";

const IMAGES = join(import.meta.dirname, "../../docs/img");
/** 1440 × 900 pixels, with room for a whole page. */
const VIEW = { viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 0.9 };
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

const browser = await startBrowser();
opened.defer(() => browser.close());
const context = await browser.newContext({ ...VIEW, timezoneId: "UTC" });
const page = await context.newPage();
await signIn(page, server.root, person);
await picture("console", `/events/${order.event_id}`, () =>
  page.getByText("Acknowledged", { exact: true }).nth(1).waitFor(),
);
await picture("run", `/runs/${run.id}`, () => page.getByText("Check price and stock").first().waitFor());
await picture("approval", `/approvals/${approval.id}`, () => page.getByText("Refunding an order").waitFor());

async function picture(name: string, path: string, shown: () => Promise<void>): Promise<void> {
  await page.goto(`${server.root}${path}`);
  await shown();
  for (const colorScheme of ["light", "dark"] as const) await save(page, name, colorScheme);
}

async function save(page: Page, name: string, colorScheme: "light" | "dark"): Promise<void> {
  const path = join(IMAGES, `${name}-${colorScheme}.png`);
  await page.emulateMedia({ colorScheme });
  await page.evaluate(DRAWN);
  await page.screenshot({ path });
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw new Error(`${path} has ${size} bytes; the limit is ${MAX_BYTES}`);
  process.stdout.write(`${path}: ${size} bytes\n`);
}
