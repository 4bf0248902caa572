/**
 * `npm run mutations [-- WORD …]`: puts one small fault after the other (faults.ts) into the code and runs the tests
 * that should see it, on a clean checkout, which it leaves clean, also when it is stopped. Prints which faults pass unseen.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FAULTS, type Fault } from "./faults.ts";

const ROOT = join(import.meta.dirname, "../..");
const JEST = [
  "--experimental-vm-modules",
  "--disable-warning=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
];
/** A fault may make a test wait without end. */
const TIMEOUT_MS = 300_000;

const words = process.argv.slice(2);
const changed = execFileSync("git", ["status", "--porcelain"], { cwd: ROOT, encoding: "utf8" });
if (changed) throw new Error(`commit or stash first, this changes files:\n${changed}`);

const wanted = FAULTS.filter(({ file, what }) => words.every((word) => `${file} ${what}`.includes(word)));
const unseen: Fault[] = [];
let restore = () => {};
process.once("exit", () => restore());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
for (const [i, fault] of wanted.entries()) {
  const verdict = await tryFault(fault);
  if (verdict !== "caught") unseen.push(fault);
  console.log(`${i + 1}/${wanted.length} ${verdict}: ${fault.file}: ${fault.what}`);
}
console.log(`\n${wanted.length - unseen.length} of ${wanted.length} faults were caught`);
process.exitCode = unseen.length > 0 ? 1 : 0;

/** A run over its limit shows nothing: tests may as well have waited for something else. */
async function tryFault({ file, from, to, tests }: Fault): Promise<"caught" | "UNSEEN" | "TIMED OUT"> {
  const path = join(ROOT, file);
  const text = readFileSync(path, "utf8");
  if (text.split(from).length !== 2) throw new Error(`${file} does not have this once: ${from}`);
  restore = () => writeFileSync(path, text);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    const jest = spawn(process.execPath, [...JEST, "--bail", "--forceExit", "-w", "1", ...tests], {
      ...{ cwd: ROOT, stdio: "ignore", timeout: TIMEOUT_MS, killSignal: "SIGKILL" },
    });
    const [code, signal] = await once(jest, "close");
    if (signal) return "TIMED OUT";
    return code === 0 ? "UNSEEN" : "caught";
  } finally {
    restore();
    restore = () => {};
  }
}
