import { expect, test } from "@jest/globals";
import type { Claims } from "../../services/sense/deliveries/claim.ts";
import type { DeliveryDoc } from "../../services/sense/deliveries/deliveries.model.ts";
import { type Promised, Receivers } from "../../services/sense/deliveries/receive.ts";
import { settle } from "../support/settle.ts";

const due_at = new Date("2026-01-31T09:30:00.000Z");

/** A queue that is empty whenever somebody looks. */
const claims: Claims = {
  claim: async () => ({ deliveries: [], drained: true }),
  leaseFor: async () => ({ lease: "L", due_at }),
  handOut: async (_, { lease }, __, taken) =>
    (await taken).map(({ _id: id }) => ({ id, lease, lease_expires_at: due_at.toISOString() })) as never,
};

const row = (_id: string, priority = 0) => ({ _id, priority, size: 10 }) as DeliveryDoc;
const wish = { tenant_id: "tn_a", agent_id: "ag_a", limit: 2, wait_ms: 60_000, cancel_key: "k" };

const newReceivers = () => new Receivers(claims, () => due_at.getTime() - 1000);
const ids = (received: { deliveries: { id: string }[] }) => received.deliveries.map(({ id }) => id);
/** Once there is somebody who waits. */
const promise = (receivers: Receivers, rows: DeliveryDoc[]) =>
  settle<Promised | null>(() => receivers.promise("ag_a", rows));

test("nobody is promised anything who does not wait", async () => {
  const receivers = newReceivers();
  expect(await receivers.promise("ag_a", [row("a")])).toBeNull();
  const gone = receivers.receive(wish);
  receivers.cancel("k");
  expect(await receivers.promise("ag_a", [row("a")])).toBeNull();
  expect(ids(await gone)).toEqual([]);
  expect(receivers.waits("ag_a")).toBe(false);
});

test("who waits gets what is written, the highest priority first, and no more than it asked for", async () => {
  const receivers = newReceivers();
  const waiting = receivers.receive(wish);
  const { rows, lease, keep } = await promise(receivers, [row("a"), row("b", 9), row("c", 5)]);
  expect(rows.map(({ _id }) => _id)).toEqual(["b", "c"]);
  expect(lease).toEqual({ lease: "L", due_at });
  // It has its promise: others are for somebody else.
  expect(await receivers.promise("ag_a", [row("d")])).toBeNull();
  keep(rows);
  expect(ids(await waiting)).toEqual(["b", "c"]);
});

test("of two who wait each gets its own", async () => {
  const receivers = newReceivers();
  const both = [receivers.receive(wish), receivers.receive({ ...wish, cancel_key: "k2" })];
  for (const id of ["a", "b"]) {
    const { rows, keep } = await promise(receivers, [row(id)]);
    keep(rows);
  }
  expect((await Promise.all(both)).map(ids).sort()).toEqual([["a"], ["b"]]);
});

test("who was promised what was there already waits on", async () => {
  const receivers = newReceivers();
  const waiting = receivers.receive(wish);
  (await promise(receivers, [row("a")])).keep([]);
  const { rows, keep } = await promise(receivers, [row("b")]);
  keep(rows);
  expect(ids(await waiting)).toEqual(["b"]);
});

test("a stream is promised no more than it may hold, whatever others of its agent hold", async () => {
  const receivers = newReceivers();
  const stream = { ...wish, limit: 100, max_in_flight: 3 };
  const first = receivers.receive(stream);
  const { rows, keep } = await promise(receivers, [row("a"), row("b")]);
  // Not written yet, and counted already.
  const second = receivers.receive({ ...stream, cancel_key: "k2" });
  const next = await promise(receivers, [row("c"), row("d")]);
  expect(next.rows.map(({ _id }) => _id)).toEqual(["c"]);
  keep(rows);
  next.keep(next.rows);
  expect([...ids(await first), ...ids(await second)]).toEqual(["a", "b", "c"]);
  const full = receivers.receive({ ...stream, wait_ms: 1 });
  expect(await receivers.promise("ag_a", [row("e")])).toBeNull();
  expect(ids(await full)).toEqual([]);
});
