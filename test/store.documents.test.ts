import { beforeEach, expect, test } from "@jest/globals";
import { LEASE_MS, place, Queue } from "../mixins/queue.ts";
import { type DocumentDoc, DocumentModel } from "../services/remember/documents/documents.model.ts";
import { ownStore } from "./support/own-store.ts";
import { settle } from "./support/settle.ts";

const store = await ownStore();
const documents = store.collection<DocumentDoc>(DocumentModel);
await store.ready();
let now: number;
const clock = () => now;

beforeEach(async () => {
  now = Date.UTC(2026, 0, 1);
  await (await store.collections()).get("documents")?.deleteMany({});
});

/** Inserts a row for tests of the queue. */
const enqueue = (tenant_id: string, _id: string, due = now, caller?: string) =>
  documents.insert({
    ...{ _id, tenant_id, queue: place(tenant_id, due, caller), attempts: 0 },
  } as unknown as DocumentDoc);

const claimed = async (queue: Queue<DocumentDoc>) => (await queue.claim())?._id;

test("tenants take turns, however much one has queued, each with what is due first", async () => {
  for (let at = 0; at < 5; at++) await enqueue("tn_much", `much-${at}`, now + at - 10);
  await enqueue("tn_little", "little");
  await enqueue("tn_also", "also");
  const queue = new Queue(documents, clock);
  const order = [];
  for (let at = 0; at < 8; at++) order.push(await claimed(queue));
  expect(order).toEqual(["also", "little", "much-0", "much-1", "much-2", "much-3", "much-4", undefined]);
});

test("alternates between callers of a tenant and rows without a caller", async () => {
  for (let at = 0; at < 3; at++) await enqueue("tn_a", `busy-${at}`, now + at - 10, "ag_busy");
  await enqueue("tn_a", "other", now, "ag_other");
  await enqueue("tn_a", "unnamed-0", now - 10);
  await enqueue("tn_a", "unnamed-1", now - 9);
  const queue = new Queue(documents, clock);
  const order = [];
  for (let at = 0; at < 7; at++) order.push(await claimed(queue));
  expect(order).toEqual(["unnamed-0", "busy-0", "other", "unnamed-1", "busy-1", "busy-2", undefined]);
});

test("tenants and callers at their limit are passed over until their work ends, and a full node takes none", async () => {
  const queue = new Queue(documents, clock, { capacity: 3, perTenant: 2, perCaller: 1 });
  const working = new Map<string, () => void>();
  let ended = 0;
  const begin = () =>
    queue.begin(
      ({ _id }) => new Promise((resolve) => void working.set(_id, resolve)),
      () => ended++,
    );
  for (let at = 0; at < 3; at++) await enqueue("tn_a", `a-${at}`, now + at - 10, "ag_a");
  await enqueue("tn_a", "b-0", now, "ag_b");
  await enqueue("tn_a", "c-0", now, "ag_c");
  expect([await begin(), await begin(), await begin()]).toEqual([true, true, false]);
  expect([...working.keys()]).toEqual(["a-0", "b-0"]);
  await enqueue("tn_b", "other", now);
  await enqueue("tn_b", "full", now + 1);
  expect([await begin(), await begin(), working.has("other")]).toEqual([true, false, true]);
  working.get("a-0")?.();
  await settle(() => ended === 1);
  expect([await begin(), working.has("c-0") || working.has("a-1")]).toEqual([true, true]);
  for (const end of working.values()) end();
  await queue.ended();
  expect(ended).toBe(4);
});

test("what is not due yet holds up nobody", async () => {
  await enqueue("tn_a", "later", now + 1000);
  await enqueue("tn_b", "now");
  const queue = new Queue(documents, clock);
  expect([await claimed(queue), await claimed(queue)]).toEqual(["now", undefined]);
  now += 1000;
  expect(await claimed(queue)).toBe("later");
});

test("what was queued while the clock was days ahead does not wait until it is there again", async () => {
  await enqueue("tn_a", "put off", now + 3_600_000);
  await enqueue("tn_b", "ahead", now + 3 * 86_400_000);
  const queue = new Queue(documents, clock);
  expect([await claimed(queue), await claimed(queue)]).toEqual(["ahead", undefined]);
});

test("a document is one claimant's until its lease is over, and then another's only", async () => {
  await enqueue("tn_a", "one");
  const [first, second] = [new Queue(documents, clock), new Queue(documents, clock)];
  const claims = await Promise.all([first.claim(), second.claim()]);
  const [mine] = claims.filter((claim) => claim !== null);
  expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  now += LEASE_MS - 1;
  const renewed = await first.renew(mine as NonNullable<typeof mine>);
  now += LEASE_MS - 1;
  expect(await second.claim()).toBeNull();
  now += 1;
  expect(await claimed(second)).toBe("one");
  expect(await first.renew(renewed as NonNullable<typeof renewed>)).toBeNull();
  expect(await first.release(renewed as NonNullable<typeof renewed>, now)).toBeNull();
});

test("leases of a process that died are free with the next start", async () => {
  await enqueue("tn_a", "one");
  const lost = await new Queue(documents, clock).claim();
  const next = new Queue(documents, clock);
  expect(await next.claim()).toBeNull();
  await next.reclaim();
  expect(await claimed(next)).toBe("one");
  expect(await next.renew(lost as NonNullable<typeof lost>)).toBeNull();
});
