import { expect, test } from "@jest/globals";
import { ProgressModel } from "../../services/sense/deliveries/health/progress.model.ts";
import { Progress } from "../../services/sense/deliveries/health/progress.ts";
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
