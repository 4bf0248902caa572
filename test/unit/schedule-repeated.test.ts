import { expect, test } from "@jest/globals";
import { readAllSettings } from "../../services/extensions.ts";
import { ScheduleModel } from "../../services/sense/schedules/schedules.model.ts";
import { Schedules } from "../../services/sense/schedules/schedules.service.ts";
import { ownStore } from "../support/own-store.ts";

test("a schedule whose answer was lost is the same when it is asked for again, also after its time", async () => {
  const store = await ownStore();
  const began = Date.now();
  let now = began;
  const runtime = { config: readAllSettings({}), store: { ...store, now: () => now } };
  const schedules = new Schedules(runtime, store.collection(ScheduleModel), { expect() {} } as never);
  const caller = { kind: "agent", tenant_id: "tn_one", agent_id: "ag_one", scopes: ["send"] };
  const create = (more: object) => {
    const params = {
      name: "once",
      at: new Date(began + 1000).toISOString(),
      event: { type: "com.example.due" },
    };
    return schedules.create({ params, meta: { caller, idempotency_seed: "seed", ...more } } as never);
  };
  const first = await create({ first_at: began });
  now += 5000;
  expect(await create({ first_at: began })).toEqual(first);
  await expect(create({})).rejects.toThrow("expected a time in the future");
});
