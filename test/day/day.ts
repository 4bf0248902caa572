/**
 * `npm run day [-- SHARE]`: a day at work on a tenant with 100 agents, 50,000 events, 2,000 dead letters of five causes,
 * 10,000 memories and 40 runs, or a share of that. Opens every page of the console, checks it and leaves its pictures in
 * `coverage/console`; then fixes one broken agent in the browser and another in the shell. Needs `npm run console:build`
 * and Debian's chromium.
 */
import { checkPage, openSite } from "../support/browser.ts";
import { fixInBrowser } from "./browser.ts";
import { type Opened, openPage, pagesOf, SIZES, watchShifts } from "./pages.ts";
import { seedDay, sizeOf } from "./seed.ts";
import { fixInShell } from "./shell.ts";

const MOST_MS = 1_000;
/** Above it a reader loses the place (web.dev/cls). */
const MOST_SHIFT = 0.1;
const VISITS = 3;

const share = Number(process.argv[2] ?? 1);
if (!(share > 0 && share <= 1)) {
  process.stderr.write(`SHARE is above 0 and at most 1: got ${process.argv[2]}.\n`);
  process.exit(2);
}
const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)}  ${line}\n`);

const wrong: string[] = [];
await using opened = new AsyncDisposableStack();
const site = await openSite(undefined, { PUSH_ALLOW_PRIVATE: "true" });
opened.defer(site.close);
const size = sizeOf(share);
say(
  `a tenant with ${Object.entries(size)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ")}`,
);
const day = await seedDay(site.server, size, say);
opened.defer(day.close);
await watchShifts(site.page);
const pages = await pagesOf(day);
for (const [size, viewport] of Object.entries(SIZES)) {
  await site.page.setViewportSize(viewport);
  for (const [name, path] of pages) await visit(`${name} ${size}`, path);
}
await site.page.setViewportSize(SIZES.wide);
for (const [name, path] of pages) {
  await openPage(site.page, site.server.root, name, path);
  wrong.push(...(await checkPage(site.page, `day-${name}`)));
}
say("all pages were checked by axe and walked by Tab, at 1440 and 390, light and dark");
await fixInBrowser(site.page, day, (line) => say(`browser: ${line}`));
await fixInShell(day, (line) => say(`shell: ${line}`));
wrong.push(...site.problems);
for (const each of wrong) say(`WRONG: ${each}`);
say(wrong.length > 0 ? `${wrong.length} findings.` : "Nothing was wrong.");
process.exitCode = wrong.length > 0 ? 1 : 0;

/** Opens a page several times; its median counts. */
async function visit(name: string, path: string): Promise<void> {
  const visits: Opened[] = [];
  for (let i = 0; i < VISITS; i++) visits.push(await openPage(site.page, site.server.root, name, path));
  const { ms, rows } = visits.sort((a, b) => a.ms - b.ms)[Math.floor(VISITS / 2)] as Opened;
  const shift = Math.max(...visits.map((each) => each.shift));
  say(`${name}: ${ms.toFixed(0)} ms, ${rows} rows, shift ${shift.toFixed(3)}`);
  if (ms > MOST_MS) wrong.push(`${name} opened in ${ms.toFixed(0)} ms: at most ${MOST_MS}`);
  if (shift > MOST_SHIFT) wrong.push(`${name} jumped by ${shift.toFixed(2)}: at most ${MOST_SHIFT}`);
}
