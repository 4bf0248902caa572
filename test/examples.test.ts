import { execFile } from "node:child_process";
import { unlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "@jest/globals";
import { cloudEvent, firstAgent, newAgent } from "./support/agents.ts";
import { PATIENT, readersFolder, readmePage, runCommands } from "./support/guides.ts";
import { startServer } from "./support/server.ts";

const ROOT = join(import.meta.dirname, "..");
const EVENTS = 19;

const readme = readmePage();
const overHttp = readme.slice(readme.indexOf("The same over HTTP"), readme.indexOf("And in TypeScript"));

// No settings: the limits are those of a new installation.
const server = await startServer();
const reader = readersFolder(server);
afterAll(async () => {
  reader.remove();
  await server.stop();
});

test("the commands of README.md lead from the first interest to a memory", async () => {
  await runCommands(readme, reader.folder, { prelude: PATIENT });
});

test("an agent may send as many requests as it says, and a batch is one", async () => {
  expect(readme).toContain("1,000 requests a minute");
  const agent = await newAgent(server, await firstAgent(server));
  const batch = [1, 2, 3].map((n) => cloudEvent(`of a batch, ${n}`));
  const type = "application/cloudevents-batch+json";
  const { status, headers } = await agent.post("/events", batch, { "content-type": type });
  expect(status).toBe(202);
  const counted = ["limit", "remaining"].map((name) => Number(headers.get(`x-ratelimit-${name}`)));
  expect(counted).toEqual([1000, 999]);
});

test("the part of README.md over HTTP can be repeated", async () => {
  await runCommands(overHttp, reader.folder);
});

test("the commands of README.md find the server by DATA_DIR", async () => {
  unlinkSync(join(reader.folder, "data"));
  // Without the block that saves the memory: it exists.
  const firstMemory = readme.slice(readme.indexOf("\nsensorium recall") - "```sh".length);
  const env = { DATA_DIR: server.dataDir };
  await runCommands(`${overHttp}${firstMemory}`, reader.folder, { prelude: PATIENT, env });
});

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
