/** @needs chromium */
import { afterAll, expect, test } from "@jest/globals";
import { fixInBrowser } from "../day/browser.ts";
import { openPage, pagesOf, SIZES, watchShifts } from "../day/pages.ts";
import { seedDay, sizeOf } from "../day/seed.ts";
import { fixInShell } from "../day/shell.ts";
import { openSite } from "../support/browser.ts";

/** Of the tenant that `npm run day` makes. */
const SHARE = 0.01;
/** Above it a reader loses the place (web.dev/cls). */
const MOST_SHIFT = 0.1;

const site = await openSite(undefined, { PUSH_ALLOW_PRIVATE: "true" });
const { page } = site;

const told: string[] = [];
const tell = (line: string) => told.push(line);

const day = await seedDay(site.server, sizeOf(SHARE), tell);

afterAll(async () => {
  await day?.close();
  await site.close();
});

test("no page jumps as it opens, at 390 as at 1440 pixels, and lists show their first 50 rows", async () => {
  await watchShifts(page);
  const pages = await pagesOf(day);
  for (const size of [SIZES.narrow, SIZES.wide]) {
    await page.setViewportSize(size);
    const opened = [];
    for (const [name, path] of pages) opened.push(await openPage(page, site.server.root, name, path));
    expect(opened.filter(({ shift }) => shift > MOST_SHIFT)).toEqual([]);
    const rows = Object.fromEntries(opened.map(({ name, rows }) => [name, rows]));
    expect(rows).toMatchObject({ events: 50, memories: 50, "agents-attention": 3 });
  }
});

test("a broken agent is found and fixed in the browser", async () => {
  await fixInBrowser(page, day, tell);
  expect(told.at(-1)).toBe("the postmortem is written as a run");
});

test("another is in the shell", async () => {
  await fixInShell(day, tell);
  expect(told.at(-1)).toBe("the postmortem is written as a run");
});

test("no page had problems or requested another host", () => expect(site.problems).toEqual([]));
