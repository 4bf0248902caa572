import { expect, test } from "@jest/globals";
import { type Absence, ProgressModel } from "../../services/sense/deliveries/health/progress.model.ts";
import { addAbsence, Progress, usualAbsence } from "../../services/sense/deliveries/health/progress.ts";
import { ownStore } from "../support/own-store.ts";

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const START = Date.parse("2026-03-01T09:00:00Z");

const store = await ownStore();
const newNode = () => new Progress(store.collection(ProgressModel), 5 * MINUTE);
const rowOf = async (agent_id: string) => (await newNode().of("tn_a", [agent_id])).get(agent_id);

async function ask(node: Progress, agent_id: string, ...times: number[]): Promise<void> {
  for (const at of times) node.asked({ tenant_id: "tn_a", agent_id }, at);
  await node.flush();
}

test("an agent that asks all the time is noted every five minutes, and is never away", async () => {
  const node = newNode();
  await ask(node, "ag_busy", START, START + 1000, START + MINUTE);
  expect(await rowOf("ag_busy")).toMatchObject({ asked_at: new Date(START) });
  await ask(node, "ag_busy", START + 4 * MINUTE);
  expect(await rowOf("ag_busy")).toMatchObject({ asked_at: new Date(START) });
  await ask(node, "ag_busy", START + 8 * MINUTE);
  const row = await rowOf("ag_busy");
  expect(row).toMatchObject({ asked_at: new Date(START + 8 * MINUTE) });
  expect(row?.absences).toBeUndefined();
});

test("an absence is known with what other nodes, and this one before it restarted, have seen", async () => {
  const [one, other] = [newNode(), newNode()];
  await ask(one, "ag_daily", START);
  await ask(other, "ag_daily", START + DAY);
  await ask(one, "ag_daily", START + DAY + MINUTE);
  await ask(newNode(), "ag_daily", START + 2 * DAY);
  await ask(one, "ag_daily", START + 2 * DAY + 3 * MINUTE);
  expect(await rowOf("ag_daily")).toMatchObject({
    asked_at: new Date(START + 2 * DAY + 3 * MINUTE),
    absences: [
      { day: "2026-03-02", ms: DAY },
      { day: "2026-03-03", ms: DAY - MINUTE },
    ],
  });
});

test("absences between two writes all count, the longest of each day", async () => {
  await ask(newNode(), "ag_slow", START, START + 10 * MINUTE, START + 40 * MINUTE, START + DAY);
  expect((await rowOf("ag_slow"))?.absences).toEqual([
    { day: "2026-03-01", ms: 30 * MINUTE },
    { day: "2026-03-02", ms: DAY - 40 * MINUTE },
  ]);
});

const HOUR = 3_600_000;

/** Returns what is known after absences, each with its end in days after the start and its length in hours. */
const after = (...absences: [day: number, hours: number][]) =>
  absences.reduce<Absence[]>((known, [day, hours]) => addAbsence(known, hours * HOUR, START + day * DAY), []);
/** The same, as `day:hours`. */
const read = (text: string) =>
  (text.match(/\S+/g) ?? []).map((each) => each.split(":").map(Number) as [number, number]);

test.each([
  ["never was away", "", 0, 0],
  ["was away once", "1:24", 1, 0],
  ["was away on two days", "1:24 2:23", 2, 23],
  ["was away twice on one day", "1:3 1.1:2", 1.1, 0],
  ["had one outage besides", "1:0.5 2:48 3:0.25", 3, 0.5],
  ["works on weekdays", "1:16 4:64 5:16 8:16 11:64", 11, 64],
  ["comes once a week", "0:168 7:168", 14, 168],
  ["has changed its ways two weeks ago", "0:48 1:48", 15, 0],
])("an agent that %s", (_, absences, day, hours) =>
  expect(usualAbsence(after(...read(absences)), START + day * DAY)).toBe(hours * HOUR),
);

test("one absence a day is kept, for two weeks", () => {
  const everyHour = Array.from({ length: 24 * 40 }, (_, hour): [number, number] => [hour / 24, 1]);
  expect(after(...everyHour).length).toBe(15);
});
