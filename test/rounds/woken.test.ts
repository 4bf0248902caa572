/** `npm run rounds:woken -- 200` is the same with more events. */
import { randomInt } from "node:crypto";
import { expect, test } from "@jest/globals";
import { runWoken } from "./lib/woken.ts";

test("commands that fail, hang, die and shout lose no event and no order while server and worker are killed", async () => {
  const seed = randomInt(2 ** 31);
  const said: string[] = [];
  const findings = await runWoken({ events: 20, kills: 2, seed, say: (line) => said.push(line) });
  expect({ seed, said, findings }).toEqual({ seed, said, findings: [] });
});
