/** @needs mongodb, nats: ticks and delayed events on several nodes, of which some are killed. */
import { expect, test } from "@jest/globals";
import { cloudEvent, newAgent, receive } from "../support/agents.ts";
import type { Child } from "../support/child.ts";
import { onNodes } from "../support/on-nodes.ts";
import { settle } from "../support/settle.ts";
import { ok } from "../support/tenancy.ts";

const SCHEDULES = 40;
const APART_MS = 250;

await onNodes("three workers, of which two are killed", 3, {}, ({ nodes, admin }) => {
  test("publish each tick once, and deliver each delayed event", async () => {
    const receiver = await newAgent(nodes.gateway, admin);
    ok(await receiver.post(`/agents/${receiver.id}/interests`, { event_type: "com.clocks.*" }));
    const start = Date.now() + 10_000;
    const due = (i: number) => new Date(start + i * APART_MS).toISOString();
    const made = await Promise.all(
      Array.from({ length: SCHEDULES }, async (_, i) => {
        const event = { type: "com.clocks.tick", data: { i } };
        return ok(await admin.post("/schedules", { name: `tick ${i}`, at: due(i), event }));
      }),
    );
    for (let i = 0; i < SCHEDULES; i++)
      ok(
        await admin.post(
          "/events",
          cloudEvent(`delayed-${i}`, { type: "com.clocks.delayed", notbefore: due(i), data: { i } }),
        ),
      );
    const [first, second] = nodes.workers as [Child, Child];
    await settle(() => Date.now() > start + 2 * APART_MS);
    await first.end("SIGKILL");
    await settle(() => Date.now() > start + 15 * APART_MS);
    await second.end("SIGKILL");
    const all = await receive(receiver, 2 * SCHEDULES);
    const of = (type: string) =>
      all.filter(({ payload }) => payload.type === type).map(({ payload }) => payload.data.i);
    const each = Array.from({ length: SCHEDULES }, (_, i) => i);
    for (const type of ["com.clocks.tick", "com.clocks.delayed"])
      expect(of(type).toSorted((a: number, b: number) => a - b)).toEqual(each);
    for (const { id, at } of made) {
      const ended = await settle(async () => {
        const now = ok(await admin.get(`/schedules/${id}`));
        return now.status === "ended" && now;
      });
      expect(ended).toMatchObject({ run_count: 1, last_run_at: at });
    }
    // None was published in addition.
    const { events } = ok(await admin.get("/events?type=com.clocks.tick&limit=200"));
    expect(events).toHaveLength(SCHEDULES);
    for (const { payload, accepted_at } of events) expect(accepted_at >= payload.time).toBe(true);
  });
});
