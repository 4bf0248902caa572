/**
 * `npm run mutations [-- WORD …]`: puts one small fault after the other (faults.ts) into the code and runs the tests
 * that should see it, on a clean checkout, which it leaves clean. Prints which faults pass unseen.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FAULTS, type Fault } from "./faults.ts";

const ROOT = join(import.meta.dirname, "../..");
const JEST = [
  "--experimental-vm-modules",
  "--disable-warning=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
];
/** A fault may also make a test wait without end. */
const TIMEOUT_MS = 300_000;

const words = process.argv.slice(2);
const changed = execFileSync("git", ["status", "--porcelain"], { cwd: ROOT, encoding: "utf8" });
if (changed) throw new Error(`commit or stash first, this changes files:\n${changed}`);

const wanted = FAULTS.filter(({ file, what }) => words.every((word) => `${file} ${what}`.includes(word)));
const unseen: Fault[] = [];
for (const [i, fault] of wanted.entries()) {
  const isSeen = isSeenBy(fault);
  if (!isSeen) unseen.push(fault);
  console.log(`${i + 1}/${wanted.length} ${isSeen ? "caught" : "UNSEEN"}: ${fault.file}: ${fault.what}`);
}
console.log(`\n${wanted.length - unseen.length} of ${wanted.length} faults were caught`);
process.exitCode = unseen.length > 0 ? 1 : 0;

function isSeenBy({ file, from, to, tests }: Fault): boolean {
  const path = join(ROOT, file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
  const restore = () => writeFileSync(path, text);
  process.once("exit", restore);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    const { status } = spawnSync(process.execPath, [...JEST, "--bail", "--forceExit", "-w", "1", ...tests], {
      cwd: ROOT,
      stdio: "ignore",
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    return status !== 0;
  } finally {
    restore();
    process.off("exit", restore);
  }
}
