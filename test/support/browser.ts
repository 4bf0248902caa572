import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { type Person, signIn, startBrowser } from "./chromium.ts";
import { type Api, agentToken, api } from "./http.ts";
import { DRAWN, walkByTab } from "./keyboard.ts";
import { startServer, type TestServer } from "./server.ts";
import { startShared } from "./shared.ts";
import { ok } from "./tenancy.ts";

/** A busy machine draws slowly. */
const PATIENCE_MS = 45_000;

/** Where every page's pictures are left to be looked at. */
const PICTURES = join(import.meta.dirname, "../../coverage/console");

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A server, and a window on its console. */
interface Site {
  server: TestServer;
  browser: Browser;
  page: Page;
  /** Problems of the page since it was opened: script errors, policy violations, requests to other hosts. */
  problems: string[];
  /** The organisation's admin, and the first agent, over HTTP. */
  admin: Api;
  agent: Api;
  /** Opens a page, and waits for what it shows: a part, or a text. */
  go(path: string, shows?: Locator | string): Promise<void>;
  /** Fills fields of the page by their labels. */
  fill(fields: Record<string, string>): Promise<void>;
  /** Returns the button of the page with this name. */
  button(name: string | RegExp): Locator;
  inDialog(button: string): Locator;
  /** Presses a button of the page, and waits for what that shows: a part of the page, or a text. */
  press(button: string | RegExp, shows: Locator | string): Promise<void>;
  /** The same in the open dialog. */
  confirm(button: string, shows: Locator | string): Promise<void>;
  /** A field of the open dialog, where the page has one of the same name: until it is open, there is only that. */
  field(label: string): Locator;
  /** Of the page itself, not of a document that it shows. */
  heading(name: string): Locator;
  close(): Promise<void>;
}

/**
 * Opens a window on a shared server of the kind `local`, or on a given one, or with further settings on a new one. Signed
 * in is the organisation's admin, or who is made by `personOf`.
 */
export async function openSite(
  personOf: (admin: Api, server: TestServer) => Promise<Person> = async (_, { credentials }) =>
    credentials.admin,
  on?: TestServer | Record<string, string>,
): Promise<Site> {
  await using opened = new AsyncDisposableStack();
  const server = await serverOf(on);
  opened.defer(() => server.stop());
  const browser = await startBrowser();
  opened.defer(() => browser.close());
  const login = await api(server).post("/auth/login", server.credentials.admin);
  const admin = api(server, ok(login).access_token);
  const agent = api(server, await agentToken(server, server.credentials.agent.api_key));
  const context = await browser.newContext({ viewport: WIDE, reducedMotion: "reduce" });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems = problemsOf(page, server);
  await signIn(page, server.root, await personOf(admin, server));
  const open = opened.move();
  const button: Site["button"] = (name) => page.getByRole("button", { name });
  const inDialog: Site["inDialog"] = (name) =>
    page.getByRole("dialog").getByRole("button", { name, exact: true });
  const shown = (what: Locator | string) =>
    (typeof what === "string" ? page.getByText(what) : what).waitFor();
  const click = async (what: Locator, shows: Locator | string) => {
    await what.click();
    await shown(shows);
  };
  return {
    ...{ server, browser, page, problems, admin, agent, button, inDialog },
    go: async (path, shows) => {
      await page.goto(server.root + path);
      if (shows) await shown(shows);
    },
    fill: async (fields) => {
      for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
    },
    press: (name, shows) => click(button(name), shows),
    confirm: (name, shows) => click(inDialog(name), shows),
    field: (label) => page.getByRole("dialog").getByLabel(label),
    heading: (name) => page.locator(".page-head").getByRole("heading", { name, level: 1 }),
    close: () => open.disposeAsync(),
  };
}

async function serverOf(on: Parameters<typeof openSite>[1]): Promise<TestServer> {
  if (!on) return startShared("local");
  return "credentials" in on
    ? (on as TestServer)
    : startServer({ env: { RATE_LIMIT_PER_MINUTE: "0", ...(on as Record<string, string>) } });
}

/** Adds what goes wrong as it does. */
function problemsOf(page: Page, server: TestServer): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
  page.on("console", (message) => {
    // A 401 tells the page that nobody is signed in; separate tests cover network errors.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      problems.push(`${page.url()}: ${message.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(blob|data):/.test(url) && !url.startsWith(`${server.root}/`)) problems.push(`asked for ${url}`);
  });
  return problems;
}

/** Finds elements whose content overflows. */
const WIDER = `[...document.querySelectorAll("td, dd, label, h1, h2, h3, li, button")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
  .filter((element) => getComputedStyle(element).overflowX === "visible" && element.checkVisibility())
  .filter((element) => getComputedStyle(element).display !== "inline")
  .map((element) => element.outerHTML.slice(0, 200))`;

/** On small screens rows are cards: none may need horizontal scrolling. */
const SIDEWAYS = `[...document.querySelectorAll(".table-wrap")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .map((element) => element.getAttribute("aria-label"))`;

const WIDE = { width: 1440, height: 900 };
const NARROW = { width: 390, height: 844 };

/** `npm run test:all` looks at every combination, and leaves pictures. */
const isWhole = process.env.SENSORIUM_TEST_ALL !== undefined;

/**
 * Checks the page: axe on a wide window, colours in dark mode, and what does not fit on a narrow one. `npm run test:all`
 * does all of that in light and dark, wide and narrow, walks the page by Tab, and saves four screenshots.
 *
 * @returns what axe finds of serious or critical impact, whether the page is wider than its window, what is wider than
 * its place, and what keys do not reach as they should
 */
export async function checkPage(page: Page, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    const isFirst = viewport === WIDE;
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      if (!isWhole && !isFirst && colorScheme === "dark") continue;
      await page.emulateMedia({ colorScheme });
      // Until the next frames the page mixes colours of both themes.
      await page.evaluate(DRAWN);
      const where = `${name} ${size} ${colorScheme}`;
      const serious = isWhole || isFirst ? await seriousIn(page, colorScheme) : [];
      found.push(...[...serious, ...(await widerIn(page, viewport))].map((each) => `${where}: ${each}`));
      if (isWhole) await savePicture(page, `${name}-${size}-${colorScheme}`);
    }
    if (isWhole) found.push(...(await walkByTab(page)).map((each) => `${name} ${size}: ${each}`));
  }
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

async function widerIn(page: Page, viewport: typeof WIDE): Promise<string[]> {
  const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
  const cut = (await page.evaluate(WIDER)) as string[];
  const sideways = viewport === NARROW ? ((await page.evaluate(SIDEWAYS)) as string[]) : [];
  return [
    ...(isWider ? ["wider than the window"] : []),
    ...cut.map((each) => `wider than its place: ${each}`),
    ...sideways.map((each) => `the table ${each} is wider than its place`),
  ];
}

async function savePicture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ fullPage: true, path: join(PICTURES, `${name}.png`) });
}

interface AxeResult {
  /** How many rules had something to say. */
  rules: number;
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Dark mode differs only in colours. The options keep results short: no passes, no selectors. */
const OPTIONS = "resultTypes: ['violations'], selectors: false";
const RULES = { light: `{ ${OPTIONS} }`, dark: `{ ${OPTIONS}, runOnly: ['color-contrast'] }` };

/** Only what is looked at leaves the page. */
const RESULT = `({ passes, incomplete, violations }) => ({
  rules: passes.length + incomplete.length,
  violations: violations.filter(({ impact }) => impact === "serious" || impact === "critical"),
})`;

/** Repeats the check if it fails: until everything is drawn, the page mixes colours of two themes. */
async function seriousIn(page: Page, colorScheme: keyof typeof RULES): Promise<string[]> {
  const found = await lookAt(page, colorScheme);
  if (found.length === 0) return found;
  await page.evaluate(DRAWN);
  return lookAt(page, colorScheme);
}

async function lookAt(page: Page, colorScheme: keyof typeof RULES): Promise<string[]> {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(AXE);
  const { rules, violations } = (await page.evaluate(
    `axe.run(${RULES[colorScheme]}).then(${RESULT})`,
  )) as AxeResult;
  // On some pages it cannot determine the background of a dialog's text.
  if (rules === 0) return ["axe looked at nothing"];
  return violations.map(
    ({ id, nodes: [first] }) => `${id}: ${first?.html.slice(0, 200)} ${first?.failureSummary}`,
  );
}
