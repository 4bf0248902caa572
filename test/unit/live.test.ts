import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { LiveChange } from "../../middlewares/live-changes.ts";
import type { HttpExchange, Link } from "../../services/edge/gateway/http-exchange.ts";
import { ChangeBuffer, streamLive } from "../../services/edge/gateway/streams/live.ts";
import { outputTo } from "../support/output.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const aMoment = () => jest.advanceTimersByTimeAsync(1000);

const change = (resource: LiveChange["resource"], ...ids: string[]): LiveChange => ({
  ...{ tenant_id: "tn_1", resource, ids },
});

/** Changes for a reader that takes a message only on request. */
function slowReader() {
  const told: object[][] = [];
  let taken = () => {};
  const changes = new ChangeBuffer((text) => {
    told.push([...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string)));
    return new Promise((resolve) => {
      taken = resolve;
    });
  });
  return { changes, told, take: () => taken() };
}

test("reports concurrent changes together, each id once", async () => {
  const { changes, told } = slowReader();
  for (const id of ["a", "b", "a"]) changes.add(change("run", id));
  changes.add(change("document"));
  await aMoment();
  expect(told).toEqual([
    [
      { resource: "run", ids: ["a", "b"] },
      { resource: "document", ids: [] },
    ],
  ]);
  changes.end();
});

test("a slow reader gets all changes in one message of bounded length", async () => {
  const { changes, told, take } = slowReader();
  changes.add(change("run", "first"));
  await aMoment();
  for (let i = 0; i < 100_000; i++) changes.add(change("run", `run ${i}`));
  await aMoment();
  expect(told).toHaveLength(1);
  take();
  await aMoment();
  expect(told[1]).toEqual([{ resource: "run", ids: [] }]);
  take();
  await aMoment();
  changes.add(change("run", "last"));
  await aMoment();
  expect(told[2]).toEqual([{ resource: "run", ids: ["last"] }]);
  changes.end();
});

test("after the end nothing is told", async () => {
  const { changes, told, take } = slowReader();
  changes.add(change("run", "a"));
  await aMoment();
  changes.add(change("run", "b"));
  changes.end();
  take();
  await aMoment();
  expect(told).toHaveLength(1);
});

test("an unread window buffers a bounded number of changes, and is closed", async () => {
  const watched = new EventEmitter();
  let asked = 0;
  const stats = { recent: "x".repeat(1000) };
  const ctx = {
    call: async () => {
      asked++;
      return stats;
    },
  };
  const res = Object.assign(new PassThrough({ highWaterMark: 100 }), { setHeader: () => {} });
  const caller = { kind: "user", tenant_id: "tn_1", expires_at: Date.now() + 3_600_000 };
  const ending = new AbortController().signal;
  const link: Link = { ending, watch: () => () => {}, recheck: async () => {} };
  const exchange = { req: { method: "GET" }, res, caller, ctx } as unknown as HttpExchange;
  const ended = streamLive(watched)(exchange, {}, link, outputTo(res));
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 1000; i++) watched.emit("tn_1", change("run", `run ${second} ${i}`));
    await aMoment();
  }
  expect(asked).toBe(1);
  expect(res.writableLength + res.readableLength).toBeLessThan(3000);
  await jest.advanceTimersByTimeAsync(20_000);
  expect(res.destroyed).toBe(true);
  await ended;
});
