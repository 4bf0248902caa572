/**
 * The test command: says how long it takes and what it will install, runs the suites within their budgets, two at a
 * time, and ends with `N passed, N failed, N skipped`. `npm test -- WORD …` runs the suites of these names; with another
 * word, the files whose path contains it; `quick` what needs no server, in a minute; `changed` what belongs to the
 * changed folders. `npm run test:all` also runs what support/longer.ts names and the repeats of support/world.ts.
 * `--record` writes the processor time of each file into processor-seconds.json.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, sep } from "node:path";
import { labelOf, planAgain, runAgain } from "./support/again.ts";
import { testsOfChanges } from "./support/changed.ts";
import { isChosen } from "./support/choose.ts";
import { cpuSeconds } from "./support/cpu.ts";
import { checkLonger, isLonger } from "./support/longer.ts";
import { sharing, startMongo } from "./support/mongo.ts";
import {
  declaredNeeds,
  describeInstalls,
  describeSkipped,
  getNeed,
  installTogether,
  type Missing,
} from "./support/needs.ts";
import type { FileResult } from "./support/reporter.ts";
import { isSharing, startAllShared } from "./support/shared.ts";
import { runSuite, type SuiteResult, stopSuites } from "./support/suite.ts";
import { CLUSTER, FERRETDB } from "./support/world.ts";

type Suite = { name: string; files: RegExp; budgetSeconds: number };

/** Each test file belongs to the first suite whose pattern its path matches. */
const SUITES: Suite[] = [
  { name: "unit", files: /^(test|extensions\/[^/]+\/test)\/unit\//, budgetSeconds: 900 },
  { name: "packages", files: /^packages\/(?!integrations\/)/, budgetSeconds: 240 },
  { name: "command", files: /^test\/command\//, budgetSeconds: 480 },
  { name: "store", files: /^test\/(store|search)\.[^/]+$/, budgetSeconds: 720 },
  {
    name: "nodes",
    files: /^test\/(breakers|nats|owners|redis|round-trips|two-owners)\./,
    budgetSeconds: 360,
  },
  { name: "http", files: /^(test|extensions\/[^/]+\/test)\/http\//, budgetSeconds: 3000 },
  { name: "browser", files: /^test\/browser\//, budgetSeconds: 2400 },
  { name: "brokers", files: /^test\/brokers\//, budgetSeconds: 360 },
  { name: "guides", files: /^test\/guides\//, budgetSeconds: 420 },
  { name: "integrations", files: /^(packages\/integrations\/|test\/integrations\.)/, budgetSeconds: 240 },
  { name: "python", files: /^test\/python\//, budgetSeconds: 600 },
  { name: "tools", files: /^test\/tools\//, budgetSeconds: 240 },
  { name: "examples", files: /^test\/examples\./, budgetSeconds: 240 },
  { name: "release", files: /^test\/release\//, budgetSeconds: 900 },
  { name: "rounds", files: /^test\/rounds\//, budgetSeconds: 360 },
];

/** How many files each of the suites that run at the same time runs at a time: so many keep two processors busy. */
const FILES_AT_ONCE = [3, 1, 1];
/** Of a suite that needs nothing, while what others need is installed. */
const MEANWHILE_AT_ONCE = 2;

/** False for continuous integration (.ci/run), which has all that tests need. */
const MAY_SKIP = process.env.SENSORIUM_TEST_SKIPS !== "none";

const startedAt = performance.now();
const ROOT = join(import.meta.dirname, "..");
const say = (line: string) => console.log(line);

process.once("exit", stopSuites);
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => process.exit(128 + (signal === "SIGINT" ? 2 : 15)));

/** The processor time of each file, as `npm test -- --record` measured it: what to look at to make tests faster. */
const TIMES = join(import.meta.dirname, "processor-seconds.json");
const times: Record<string, number> = JSON.parse(readFileSync(TIMES, "utf8"));
/** Of a new file. */
const USUAL_SECONDS = 3;

const given = process.argv.slice(2).filter((word) => word !== "--record");
const isRecording = process.argv.includes("--record");
const isWhole = given.includes("all");
const words = isWhole ? [] : given;
const all = globSync("{test,extensions/*/test,packages/{*,integrations/*}/test}/**/*.test.ts", {
  cwd: ROOT,
}).map((file) => file.split(sep).join("/"));
const suites = plan();
const parts = words.filter((word) => !isSuite(word) && word !== "quick" && word !== "changed");
const again = words.length > 0 && parts.length === 0 ? [] : planAgain(all, parts, isWhole);
if (suites.length + again.length === 0) {
  say(`no suite and no file of that name: ${words.join(" ")}; the suites are ${namesOfSuites().join(", ")}`);
  process.exit(1);
}
/** The needs of files, by their names in the report. */
const needs = new Map([
  ...suites.flatMap(({ files }) => files.map((file) => [file, needsOf(file)] as const)),
  ...again.flatMap((each) =>
    each.files.map((file) => [labelOf(file, each), [...each.needs, ...needsOf(file)]] as const),
  ),
]);
const progress = { done: 0, total: [...needs.keys()].reduce((sum, file) => sum + secondsOf(file), 0) };
if (isWhole) process.env.SENSORIUM_TEST_ALL = "1";
await announce();
/** Why what tests need is not here, by its name. */
const missing = new Map<string, Missing>();
const results: SuiteResult[] = [];
// The longest first: short ones fill the remaining time.
const queue = [
  ...suites.map((suite) => ({
    ...suite,
    needsNothing: suite.files.every((file) => needsOf(file).length === 0 && !isSharing(textOf(file))),
    start: (atOnce: number) => run({ atOnce, ...suite }),
  })),
  ...again.map((each) => ({
    ...each,
    needsNothing: false,
    start: (atOnce: number) => runAgain({ atOnce, ...each }, run, missing),
  })),
].sort((a, b) => b.budgetSeconds - a.budgetSeconds);
const isAlone = queue.length === 1;
const meanwhile = queue.find(({ needsNothing }) => needsNothing);
if (meanwhile) queue.splice(queue.indexOf(meanwhile), 1);
await Promise.all([
  meanwhile
    ?.start(isAlone ? Math.max(...FILES_AT_ONCE) : MEANWHILE_AT_ONCE)
    .then((result) => results.push(result)),
  runOthers(),
]);
process.exitCode = report(results) ? 0 : 1;
if (isRecording) record(results);

/** Installs and starts what the suites in the queue need, and runs them. */
async function runOthers(): Promise<void> {
  const all = [...needs.values()].flat();
  await getNeeds(new Set(all));
  const mongo = all.includes("mongodb") && !process.env.MONGO_URL ? await startMongo() : null;
  if (mongo && "url" in mongo) Object.assign(process.env, sharing(mongo));
  const shared = await startAllShared(suites.flatMap(({ files }) => files.map(textOf)));
  Object.assign(process.env, shared.env);
  await Promise.all(FILES_AT_ONCE.map(runQueue));
  await shared.stop();
  if (mongo && "url" in mongo) await mongo.stop();
}

async function runQueue(atOnce: number): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) results.push(await next.start(atOnce));
}

/** With other suites running, prints a line per file and jest's output, with the failures, at the end. */
async function run(
  suite: Omit<Suite, "files"> & { files: string[]; atOnce?: number },
  env = {},
): Promise<SuiteResult> {
  const { name, files, budgetSeconds, atOnce } = suite;
  say(`\n== ${name}: ${files.length} files, budget ${budgetSeconds} s`);
  let done = 0;
  const onFile = ({ file, failed, seconds }: FileResult) => {
    progress.done += secondsOf(file);
    const which = `${name} ${++done}/${files.length}: ${failed.length ? "FAIL " : ""}${file}`;
    say(`${which} (${seconds.toFixed(1)} s; ${describeLeft()})`);
    for (const test of failed) say(`  ${test}`);
  };
  const result = await runSuite(ROOT, files, budgetSeconds, {
    env,
    ...(atOnce && { atOnce }),
    ...(!isAlone && { output: say, onFile }),
  });
  say(`== ${name}: ${result.seconds.toFixed(1)} s`);
  return result;
}

function plan() {
  const suiteOf = (file: string) => SUITES.find(({ files }) => files.test(file));
  const stray = all.filter((file) => !suiteOf(file));
  if (stray.length > 0) throw new Error(`no suite in test/run.ts takes ${stray.join(", ")}`);
  checkLonger(all);
  const changed = words.includes("changed") ? testsOfChanges(ROOT, all) : [];
  const isWanted = (path: string, suite: string) =>
    isWhole ||
    isChosen(
      {
        ...{ path, suite, seconds: secondsOf(path) },
        ...{ isLonger: isLonger(path), isChanged: changed.includes(path) },
      },
      words,
      SUITES.map(({ name }) => name),
    );
  return SUITES.map((suite) => ({
    ...suite,
    files: all.filter((file) => suiteOf(file) === suite && isWanted(file, suite.name)).sort(),
  })).filter(({ files }) => files.length > 0);
}

function isSuite(word: string): boolean {
  return SUITES.some(({ name }) => name === word);
}

function namesOfSuites(): string[] {
  return ["quick", "changed", ...SUITES.map(({ name }) => name), CLUSTER.name, FERRETDB.name];
}

/** @param file its name in the report */
function secondsOf(file: string): number {
  return times[file] ?? USUAL_SECONDS;
}

/** Says what is about to run, and to be installed. */
async function announce(): Promise<void> {
  const files = suites.flatMap((suite) => suite.files).length + again.flatMap((each) => each.files).length;
  const minutes = Math.ceil(progress.total / Math.min(availableParallelism(), 2) / 60);
  const quicker = words.length === 0 ? "; `npm test -- quick` takes one" : "";
  say(`${suites.length + again.length} suites, ${files} files: about ${minutes} min on two cores${quicker}`);
  const installs = await describeInstalls(needs);
  if (installs.length === 0) return;
  const isAllowed = process.env.TEST_INSTALL !== "0";
  say(
    isAllowed ? "Installs first (TEST_INSTALL=0 installs nothing):" : "Not installed, as TEST_INSTALL is 0:",
  );
  for (const line of installs) say(`  ${line}`);
}

/** How much of the processor time is done, and how long the rest takes at this pace; at first, at that of two cores. */
function describeLeft(): string {
  const { done, total } = progress;
  const pace = done < total / 10 ? 1 / 2 : (performance.now() - startedAt) / 1000 / done;
  const minutes = Math.ceil(((total - done) * pace) / 60);
  return `${Math.min(99, Math.floor((done / total) * 100))} %, ${minutes} min left`;
}

/** Files that did not run keep their times. */
function record(results: SuiteResult[]): void {
  const measured = results.flatMap(({ files }) =>
    files.map(({ file, cpu }) => [file, Math.round(cpu * 10) / 10] as const),
  );
  const entries = Object.entries({ ...times, ...Object.fromEntries(measured) });
  const kept = entries.filter(([file]) => all.includes(file.replace(/ \(on .*/, "")));
  const sorted = kept.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(TIMES, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

function needsOf(file: string): string[] {
  return declaredNeeds(textOf(file));
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), "utf8");
}

async function getNeeds(names: Set<string>): Promise<void> {
  await installTogether(names, say);
  for (const name of names) {
    const lacking = await getNeed(name, say);
    if (lacking) missing.set(name, lacking);
  }
  for (const [name, { why }] of missing) say(`${name}: ${why}`);
}

/** Prints what failed and what was skipped, then the counts. True when all is as it should be. */
function report(results: SuiteResult[]): boolean {
  const ran = results.flatMap((result) => result.files);
  const failed = ran.flatMap(({ file, failed }) => failed.map((test) => `${file} › ${test}`));
  failed.push(...results.flatMap((result) => result.problems));
  const skipping = ran
    .filter((each) => each.skipped.length > 0)
    .map((each) => ({ ...each, need: lackedBy(each.file) }));
  const skipped = skipping.reduce((sum, file) => sum + file.skipped.length, 0);
  const excused = skipping.flatMap(({ need, skipped }) => (need ? [{ need, tests: skipped.length }] : []));
  const passed = ran.reduce((sum, file) => sum + file.passed.length, 0);

  say("");
  for (const { file, slow } of ran)
    for (const { test, seconds } of slow) say(`slow: ${file} › ${test} — ${seconds.toFixed(0)} s`);
  for (const line of failed) say(`failed: ${line}`);
  for (const { file, need, skipped } of skipping) {
    if (!need)
      for (const test of skipped) say(`skipped: ${file} › ${test} — for no known reason, which is an error`);
  }
  for (const line of describeSkipped(excused, missing)) say(line);
  say(
    `${Math.ceil((performance.now() - startedAt) / 1000)} s, ${Math.round(cpuSeconds())} s of processor time`,
  );
  if (passed + failed.length === 0) say("no test ran, which is an error");
  say(`${passed} passed, ${failed.length} failed, ${skipped} skipped`);
  const isExcused = MAY_SKIP && excused.length === skipping.length;
  return failed.length === 0 && passed > 0 && (skipped === 0 || isExcused);
}

/** Returns the first of the file's needs that is missing here: its tests may be skipped. */
function lackedBy(file: string): string | undefined {
  return needs.get(file)?.find((need) => missing.has(need));
}
