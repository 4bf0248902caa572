import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Cli, newCli } from "../support/cli.ts";
import type { TestServer } from "../support/server.ts";
import { settle } from "../support/settle.ts";
import { startShared } from "../support/shared.ts";

let server: TestServer;
let cli: Cli;

beforeAll(async () => {
  server = await startShared();
  cli = newCli({ SENSORIUM_URL: server.root, SENSORIUM_API_KEY: server.credentials.agent.api_key });
});
afterAll(async () => {
  await cli?.remove();
  await server?.stop();
});

const done = async (words: string[]) => {
  const { code, out, err } = await cli.run(words);
  expect([code, err]).toEqual([0, ""]);
  return out.trim();
};
const json = async (words: string[]) => JSON.parse(await done([...words, "--json"]));

test("a schedule from its creation to its deletion", async () => {
  const when = ["--cron", "0 9 * * MON-FRI", "--time-zone", "Europe/Berlin"];
  const next = (await done(["schedule", "next", ...when])).split("\n");
  expect(next).toHaveLength(5);
  const there = ["--cron", "0 9 * * MON-FRI", "--timezone", "Asia/Kolkata"];
  expect(await done(["schedule", "next", ...there])).toMatch(/^(\S+T09:00:00\+05:30(\n|$)){5}/);
  expect(await cli.run(["schedule", "list", "--timezone", "Mars/Base"])).toMatchObject({ code: 2 });
  const line = await done(["schedule", "create", "com.cli.due", '{"n": 1}', ...when, "--subject", "weekly"]);
  expect(line).toMatch(/^sch_\S+ active, next at \d{4}-\d\d-\d\dT0[78]:00:00.000Z$/);
  const [id = ""] = line.split(" ");
  expect(await done(["schedule", "list"])).toContain("0 9 * * MON-FRI Europe/Berlin");
  expect(await done(["schedule", "pause", id])).toBe(`${id} paused`);
  expect(
    (await json(["schedule", "list", "--status", "paused"])).map((each: { id: string }) => each.id),
  ).toEqual([id]);
  const ran = await done(["schedule", "run", id]);
  expect(ran).toMatch(/^evt_\S+ accepted$/);
  const shown = await done(["schedule", "show", id]);
  expect(shown).toMatch(/Runs\s+1\n/);
  expect(shown).toContain('"subject": "weekly"');
  expect(await done(["schedule", "resume", id])).toMatch(/ active, next at /);
  expect(await done(["schedule", "delete", id])).toBe(`${id} deleted.`);
  expect(await done(["schedule", "list"])).toBe("No schedules.");
});

test("an event is published later, listed while it waits, and cancelled", async () => {
  const line = await done(["publish", "com.cli.later", "--in", "2h"]);
  expect(line).toMatch(/^evt_\S+ accepted, waits until \S+Z$/);
  const [id = ""] = line.split(" ");
  expect(await done(["event", "list", "--waiting"])).toContain(id);
  expect(await done(["event", "show", id])).toMatch(/Waits until\s+\d/);
  expect(await done(["event", "cancel", id])).toBe(`${id} cancelled.`);
  expect(await done(["event", "list", "--waiting"])).toBe("No events.");
  const soon = await json(["publish", "com.cli.soon", "--at", new Date(Date.now() + 1500).toISOString()]);
  await settle(async () => (await json(["event", "show", soon.event_id])).state === "fanned_out");
});

test.each([
  [["publish", "t", "--at", "tomorrow"], "--at is tomorrow"],
  [["publish", "t", "--in", "soon"], "--in is soon"],
  [["publish", "t", "--in", "1h", "--at", "2030-01-01"], "not both"],
  [["schedule", "create", "t"], "give --cron, --at or --in"],
  [["schedule", "create", "t", "--cron", "@daily", "--in", "1h"], "only one"],
  [["schedule", "create", "t", "--cron", "@daily", "--missed", "all"], "--missed is all"],
])("%j says what is wrong", async (words, part) => {
  const { code, err } = await cli.run(words);
  expect([code, err]).toEqual([2, expect.stringContaining(part)]);
});
