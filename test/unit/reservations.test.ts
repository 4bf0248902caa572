import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Claims } from "../../services/sense/deliveries/claim.ts";
import type { DeliveryDoc } from "../../services/sense/deliveries/deliveries.model.ts";
import { RequestQueues, type Reservation } from "../../services/sense/deliveries/receive.ts";
import { settle } from "../support/settle.ts";

const due_at = new Date("2026-01-31T09:30:00.000Z");

/** A queue without ready rows. */
const claims: Pick<Claims, "claim" | "reservingLease" | "deliver"> = {
  claim: async () => ({ deliveries: [], drained: true }),
  reservingLease: async () => ({ lease: "L", due_at }),
  deliver: async (_, { lease }, __, leasing) =>
    (await leasing).map(({ _id: id }) => ({ id, lease, lease_expires_at: due_at.toISOString() })) as never,
};

const row = (_id: string, priority = 0) => ({ _id, priority, size: 10 }) as DeliveryDoc;
const request = { tenant_id: "tn_a", agent_id: "ag_a", limit: 2, wait_ms: 60_000, cancel_key: "k" };

const newRequestQueues = () => new RequestQueues(claims, () => due_at.getTime() - 1000);
const ids = (received: { deliveries: { id: string }[] }) => received.deliveries.map(({ id }) => id);
/** Reserves rows as soon as a request waits. */
const reserve = (requestQueues: RequestQueues, rows: DeliveryDoc[]) =>
  settle<Reservation | null>(() => requestQueues.reserve("ag_a", rows));

test("rows are not reserved without a waiting request", async () => {
  const requestQueues = newRequestQueues();
  expect(await requestQueues.reserve("ag_a", [row("a")])).toBeNull();
  const gone = requestQueues.receive(request);
  requestQueues.cancel("k");
  expect(await requestQueues.reserve("ag_a", [row("a")])).toBeNull();
  expect(ids(await gone)).toEqual([]);
  expect(requestQueues.hasWaiting("ag_a")).toBe(false);
});

test("a waiting request gets reserved rows by priority, up to its limit", async () => {
  const requestQueues = newRequestQueues();
  const waiting = requestQueues.receive(request);
  const { rows, lease, confirm } = await reserve(requestQueues, [row("a"), row("b", 9), row("c", 5)]);
  expect(rows.map(({ _id }) => _id)).toEqual(["b", "c"]);
  expect(lease).toEqual({ lease: "L", due_at });
  // It has its reservation: other rows are for other requests.
  expect(await requestQueues.reserve("ag_a", [row("d")])).toBeNull();
  confirm(rows);
  expect(ids(await waiting)).toEqual(["b", "c"]);
});

test("two waiting requests get different rows", async () => {
  const requestQueues = newRequestQueues();
  const both = [requestQueues.receive(request), requestQueues.receive({ ...request, cancel_key: "k2" })];
  for (const id of ["a", "b"]) {
    const { rows, confirm } = await reserve(requestQueues, [row(id)]);
    confirm(rows);
  }
  expect((await Promise.all(both)).map(ids).sort()).toEqual([["a"], ["b"]]);
});

test("a request whose reserved rows existed already waits on", async () => {
  const requestQueues = newRequestQueues();
  const waiting = requestQueues.receive(request);
  (await reserve(requestQueues, [row("a")])).confirm([]);
  const { rows, confirm } = await reserve(requestQueues, [row("b")]);
  confirm(rows);
  expect(ids(await waiting)).toEqual(["b"]);
});

test("what a stream's claim under way may get counts against the limit of an agent's streams", async () => {
  const claimed = Promise.withResolvers<string[]>();
  const slow: typeof claims = {
    ...claims,
    claim: async (asked) => {
      const given = (asked as { cancel_key?: string }).cancel_key === "slow" ? await claimed.promise : [];
      const deliveries = given.map((id) => ({ id, lease: "S", lease_expires_at: due_at.toISOString() }));
      return { deliveries, drained: true } as never;
    },
  };
  const requestQueues = new RequestQueues(slow, () => due_at.getTime() - 1000);
  const stream = { ...request, limit: 100, max_in_flight: 3 };
  const waiting = requestQueues.receive({ ...stream, cancel_key: "waits" });
  await new Promise(setImmediate);
  const claiming = requestQueues.receive({ ...stream, cancel_key: "slow" });
  await new Promise(setImmediate);
  expect(await requestQueues.reserve("ag_a", [row("d")])).toBeNull();
  claimed.resolve(["a", "b"]);
  expect(ids(await claiming)).toEqual(["a", "b"]);
  // What it did not get is free again.
  const reserved = await requestQueues.reserve("ag_a", [row("d"), row("e")]);
  expect(reserved?.rows.map(({ _id }) => _id)).toEqual(["d"]);
  reserved?.confirm(reserved.rows);
  expect(ids(await waiting)).toEqual(["d"]);
});

test("reservations count against the limit of an agent's streams", async () => {
  const requestQueues = newRequestQueues();
  const stream = { ...request, limit: 100, max_in_flight: 3 };
  const first = requestQueues.receive(stream);
  const { rows, confirm } = await reserve(requestQueues, [row("a"), row("b")]);
  // Counted before they are written.
  const second = requestQueues.receive({ ...stream, cancel_key: "k2" });
  const next = await reserve(requestQueues, [row("c"), row("d")]);
  expect(next.rows.map(({ _id }) => _id)).toEqual(["c"]);
  confirm(rows);
  next.confirm(next.rows);
  expect([...ids(await first), ...ids(await second)]).toEqual(["a", "b", "c"]);
  const full = requestQueues.receive({ ...stream, wait_ms: 1 });
  expect(await requestQueues.reserve("ag_a", [row("e")])).toBeNull();
  expect(ids(await full)).toEqual([]);
});

test("a delivery counts against the limit of its agent's streams until its lease ends, which may be later", async () => {
  let now = due_at.getTime() - 1000;
  const requestQueues = new RequestQueues(claims, () => now);
  const stream = { ...request, max_in_flight: 2 };
  const first = requestQueues.receive(stream);
  const { rows, confirm } = await reserve(requestQueues, [row("a"), row("b")]);
  confirm(rows);
  expect(ids(await first)).toEqual(["a", "b"]);
  requestQueues.extendInFlight("ag_a", ["a"], now + 60_000, () => undefined);
  const second = requestQueues.receive(stream);
  now = due_at.getTime();
  const next = await reserve(requestQueues, [row("c"), row("d")]);
  next.confirm(next.rows);
  expect(ids(await second)).toEqual(["c"]);
});

test("a request whose agent another node owns now finds by itself what no wake-up tells it of", async () => {
  let [isOwn, isReady] = [true, false];
  const delivery = { id: "a", lease: "L", lease_expires_at: due_at.toISOString() } as never;
  const claim = async () => ({ deliveries: isReady ? [delivery] : [], drained: true });
  const requestQueues = new RequestQueues(
    { ...claims, claim },
    () => due_at.getTime(),
    () => isOwn,
  );
  const waiting = requestQueues.receive(request);
  await settle(() => requestQueues.hasWaiting("ag_a"));
  isOwn = false;
  requestQueues.recheckMoved();
  isReady = true;
  expect(ids(await waiting)).toEqual(["a"]);
});

describe("an idle receiver", () => {
  /** A queue whose claims are counted, and polls of 30 s that follow each other. */
  function polling() {
    let claimed = 0;
    const claim = async () => {
      claimed++;
      return { deliveries: [], drained: true };
    };
    const requestQueues = new RequestQueues({ ...claims, claim }, () => due_at.getTime());
    const recheck = () => requestQueues.recheck(async () => ({ agent_ids: [], more: false }));
    const poll = async (wait_ms = 30_000) => {
      const answer = requestQueues.receive({ ...request, wait_ms });
      for (let left = wait_ms; left > 0; left -= 10_000) {
        await jest.advanceTimersByTimeAsync(Math.min(left, 10_000));
        if (left > 10_000) await recheck();
      }
      return ids(await answer);
    };
    return { requestQueues, poll, claimed: () => claimed };
  }

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("costs one claim, however long it polls", async () => {
    const { poll, claimed } = polling();
    for (let i = 0; i < 10; i++) expect(await poll()).toEqual([]);
    expect(claimed()).toBe(1);
  });

  test("is looked for again after a wake-up between its polls, after a pause, and with each short poll", async () => {
    const { requestQueues, poll, claimed } = polling();
    await poll();
    requestQueues.wake("ag_a");
    await poll();
    expect(claimed()).toBe(2);
    await jest.advanceTimersByTimeAsync(20_000);
    await poll();
    expect(claimed()).toBe(3);
    await poll(1000);
    await poll(1000);
    expect(claimed()).toBe(5);
  });

  test("is looked for again when other nodes have come or gone", async () => {
    const { requestQueues, poll, claimed } = polling();
    await poll();
    requestQueues.recheckMoved();
    await poll();
    expect(claimed()).toBe(2);
  });

  test("gets what comes while it waits without a claim", async () => {
    const { requestQueues, poll } = polling();
    await poll();
    const waiting = requestQueues.receive({ ...request, wait_ms: 30_000 });
    await jest.advanceTimersByTimeAsync(1);
    const reservation = await requestQueues.reserve("ag_a", [row("a")]);
    reservation?.confirm(reservation.rows);
    expect(ids(await waiting)).toEqual(["a"]);
  });
});
