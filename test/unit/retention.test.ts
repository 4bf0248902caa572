import { expect, test } from "@jest/globals";
import type { Context } from "moleculer";
import { type EventDoc, EventModel } from "../../services/sense/events/events.model.ts";
import { fanoutKey, positionMaker } from "../../services/sense/events/position.ts";
import { Retention } from "../../services/sense/events/retention.ts";
import { ownBroker, ownStore } from "../support/own-store.ts";

const DAY = 86_400_000;
const forgotten: string[] = [];

const store = await ownStore();
const events = store.collection(EventModel);
const forget_events = async ({ params }: Context<{ tenant_id: string; event_ids: string[] }>) => {
  // The deliveries go first: nothing may refer to an event that is gone.
  expect(await events.count(params.tenant_id, { _id: { $in: params.event_ids } })).toBe(
    params.event_ids.length,
  );
  forgotten.push(...params.event_ids);
};
const broker = await ownBroker([{ name: "deliveries", actions: { forget_events } }]);

test("only finished events past their retention are deleted, with their deliveries", async () => {
  const row = (tenant_id: string, n: number, days: number, more: Partial<EventDoc> = {}): EventDoc => {
    const at = Date.now() - days * DAY;
    const fixed = { envelope: "{}", size: 2, type: "t", source: "/", subject: null, publisher_id: null };
    const _id = `evt_${tenant_id}_${days}_${n}`;
    return {
      ...{ _id, tenant_id, ce_id: _id },
      ...fixed,
      accepted_at: new Date(at),
      position: positionMaker()(at),
      ...more,
    };
  };
  const delayed = (days: number) => ({ not_before: new Date(Date.now() - days * DAY) });
  const waiting = { ...delayed(-1), due_at: delayed(-1).not_before };
  const old = [
    row("tn_a", 901, 40, delayed(11)),
    ...Array.from({ length: 450 }, (_, n) => row("tn_a", n, 11)),
    ...Array.from({ length: 3 }, (_, n) => row("tn_c", n, 40)),
  ];
  const kept = [
    ...[row("tn_a", 1, 9), row("tn_b", 1, 0), row("tn_a", 902, 40, waiting)],
    row("tn_a", 903, 40, delayed(9)),
    row("tn_c", 7, 40, { fanout_key: fanoutKey("tn_c", Date.now()) }),
  ];
  await events.insertMany([...old, ...kept]);
  const gone: string[] = [];
  const retention = new Retention({ events, store, broker, onDeleted: (ids) => gone.push(...ids) }, 10);
  broker.createService({ name: "events", actions: { delete_old: (ctx) => retention.deleteSome(ctx) } });
  await broker.waitForServices("events");
  await retention.run();
  const left = (await events.system.find({}, { bounded: "a few" }).toArray()) as EventDoc[];
  expect(left.map(({ _id }) => _id).sort()).toEqual(kept.map(({ _id }) => _id).sort());
  const ids = old.map(({ _id }) => _id).sort();
  expect([gone.sort(), forgotten.sort()]).toEqual([ids, ids]);
});
