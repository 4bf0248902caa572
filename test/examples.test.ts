import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startServer, type TestServer } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");
const EVENTS = 19;

let server: TestServer;
beforeAll(async () => {
  // No settings: the rate limit is the one that a newcomer has.
  server = await startServer();
});
afterAll(() => server.stop());

test.each(["the first time", "and again"])(
  "01-first-delivery: every event arrives where it is wanted, %s",
  async () => {
    const stdout = await run("01-first-delivery");
    const [, accepted, recognised] = /Published (\d+) events; (\d+) sent twice/.exec(stdout) ?? [];
    expect({ accepted, recognised }).toEqual({ accepted: String(EVENTS), recognised: "10" });
    const sections = readCounts(stdout);
    expect([...sections.keys()]).toEqual(["Reviewer (long-poll)", "Auditor (SSE)"]);
    for (const { received, expected, kinds } of sections.values()) {
      expect(received).toBe(expected);
      expect(kinds.reduce((sum, [got]) => sum + got, 0)).toBe(expected);
      for (const [got, wanted] of kinds) expect(got).toBe(wanted);
    }
    expect(sections.get("Auditor (SSE)")?.expected).toBe(EVENTS);
    expect(sections.get("Reviewer (long-poll)")?.expected).toBeGreaterThan(0);
    expect(stdout).toContain("The counts add up.");
  },
);

test.each([1, 2])(
  "02-a-run-with-two-agents: the run is completed and looked back at, time %d",
  async (time) => {
    const stdout = await run("02-a-run-with-two-agents");
    expect(stdout).toContain(`5 steps, by version ${time} of "release-note"`);
    expect(stdout).toContain("Writer completes outline; ready now: facts, draft.");
    expect(stdout).toContain("Writer finds: Import speed of 4.2.");
    expect(stdout).toMatch(/ \| # Handoff: release-note-/);
    expect(stdout).toContain("Researcher saves version 2 of");
    expect(stdout).toContain("Person completes approve; the run is completed.");
    const lookingBack = stdout.split("Looking back:\n")[1] as string;
    expect(lookingBack.match(/ completed /g)).toHaveLength(5);
    expect(lookingBack).toContain("2 versions of the note, and the run is closed as achieved.");
  },
);

/** Runs an example and returns its output. @throws Error when it exits with anything but 0 */
async function run(example: string): Promise<string> {
  const { PATH } = process.env;
  const script = join(ROOT, "docs/examples", example, "main.ts");
  const env = { PATH, DATA_DIR: server.dataDir };
  return (await promisify(execFile)(process.execPath, [script], { cwd: ROOT, env })).stdout;
}

interface Section {
  received: number;
  expected: number;
  /** Received and expected, by kind of event. */
  kinds: [number, number][];
}

/** The tables that the example prints: a line `NAME: N of M`, below it one line for each kind. */
function readCounts(text: string): Map<string, Section> {
  const sections = new Map<string, Section>();
  let section: Section | undefined;
  for (const line of text.split("\n")) {
    const [, indent, name, received, expected] = /^( *)(\S.*?):? +(\d+) of (\d+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const counts: [number, number] = [Number(received), Number(expected)];
    if (indent) section?.kinds.push(counts);
    else {
      section = { received: counts[0], expected: counts[1], kinds: [] };
      sections.set(name, section);
    }
  }
  return sections;
}
