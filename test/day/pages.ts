import type { Page } from "playwright-core";
import { DRAWN } from "../support/keyboard.ts";
import { ok } from "../support/tenancy.ts";
import type { Day } from "./seed.ts";

/** How a page opened. */
export interface Opened {
  name: string;
  /** From the request to the page without placeholders, drawn: ms. */
  ms: number;
  /** Cumulative layout shift (web.dev/cls) until then and half a second after; below 0.1 is good. */
  shift: number;
  rows: number;
}

/** Sums the layout shifts of a page from its beginning. */
const WATCH_SHIFTS = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
}).observe({ type: "layout-shift", buffered: true });`;

const SETTLING_MS = 500;

/** Every page of the console that the day's tenant has something for. */
export async function pagesOf({ admin, billing, template }: Day): Promise<[name: string, path: string][]> {
  const first = async (path: string, list: string) => ok(await admin.get(path))[list][0];
  const event = await first("/events?limit=1", "events");
  const memory = await first("/memories?limit=1", "memories");
  const runs = ok(await admin.get("/runs?limit=1"));
  const [run] = Array.isArray(runs) ? runs : runs.runs;
  return [
    ["overview", "/"],
    ["events", "/events"],
    ["event", `/events/${event.id}`],
    ["agents", "/agents"],
    ["agents-all", "/agents?status=all"],
    ["agents-attention", "/agents?status=attention"],
    ["agent", `/agents/${billing.id}`],
    ["agent-interests", `/agents/${billing.id}?tab=interests`],
    ["agent-settings", `/agents/${billing.id}?tab=settings`],
    ["channels", "/channels"],
    ["dead-letters", "/dead-letters"],
    ["ingest", "/ingest"],
    ["memories", "/memories"],
    ["memories-found", "/memories?q=invoices%20by%20post"],
    ["memory", `/memories/${memory.id}`],
    ["memory-health", "/memories/health"],
    ["merges", "/memories/merges"],
    ["findings", "/findings"],
    ["documents", "/documents"],
    ["specialists", "/specialists"],
    ["runs", "/runs"],
    ["run", `/runs/${run.id}`],
    ["templates", "/templates"],
    ["template", `/templates/${template}`],
    ["exemplars", "/exemplars"],
    ["outputs", "/outputs"],
    ["settings", "/settings"],
    ["audit", "/settings?tab=audit"],
  ];
}

/** Watches the shifts of each page that is opened from now on. */
export const watchShifts = (page: Page) => page.addInitScript(WATCH_SHIFTS);

/** Sizes of windows: of a desk, and of a telephone. */
export const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };

/** Opens a page as from a bookmark. */
export async function openPage(page: Page, root: string, name: string, path: string): Promise<Opened> {
  const start = performance.now();
  await page.goto(root + path);
  await page.locator(".page h1").first().waitFor();
  await page.locator(".skeleton").first().waitFor({ state: "detached" });
  await page.evaluate(DRAWN);
  const ms = performance.now() - start;
  await page.waitForTimeout(SETTLING_MS);
  const shift = (await page.evaluate("window.shifted")) as number;
  return { name, ms, shift, rows: await page.locator("tbody tr").count() };
}
