import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { type Fault, unavailable } from "../../lib/contract/faults.ts";
import type { HttpExchange, Link } from "../../services/edge/gateway/http-exchange.ts";
import { endingOf, streamDeliveries } from "../../services/edge/gateway/streams/sse.ts";
import { outputTo } from "../support/output.ts";

// Streams and promises go on as ever.
const REAL = ["setImmediate", "nextTick", "queueMicrotask", "performance"] as const;
beforeEach(() => void jest.useFakeTimers({ doNotFake: [...REAL] }));
afterEach(() => void jest.useRealTimers());

/** A stream that nothing is delivered to, and what it has written. */
function open(
  life_ms: number,
  {
    recheck = () => {},
    stopping = false,
    deliveries = [],
  }: { recheck?: Link["recheck"]; stopping?: boolean; deliveries?: object[] } = {},
) {
  let closed = (_: unknown) => {};
  let refuse = (_: Fault) => {};
  const nothing = { deliveries, stopping };
  const claims = new Promise((resolve) => {
    closed = resolve;
  }).then(() => nothing);
  const broker = { broadcast: (event: string) => closed(event) } as unknown as ServiceBroker;
  const res = Object.assign(new PassThrough(), { setHeader: () => {} });
  const written: string[] = [];
  res.on("data", (chunk) => written.push(String(chunk)));
  const caller = { kind: "agent", tenant_id: "tn_a", agent_id: "ag_a", expires_at: Date.now() + life_ms };
  const exchange = { req: { method: "GET" }, res, caller, ctx: { call: () => claims } };
  const watch: Link["watch"] = (called) => {
    refuse = called;
    return () => {};
  };
  const link = { ending: new AbortController().signal, watch, recheck };
  const ended = streamDeliveries(broker)(exchange as unknown as HttpExchange, {}, link, outputTo(res));
  const comments = () => written.filter((text) => text === ":\n\n").length;
  return { ended, comments, res, closed, refuse: (fault: Fault) => refuse(fault), written };
}

/** Until what the stream wrote has passed through. */
const flushed = () => new Promise((resolve) => setImmediate(resolve));

test("a comment goes every 15 s, so that nobody on the way takes the connection for dead", async () => {
  const stream = open(3_600_000);
  const seen = [];
  for (const ms of [14_999, 1, 14_999, 1]) {
    jest.advanceTimersByTime(ms);
    await flushed();
    seen.push(stream.comments());
  }
  expect(seen).toEqual([0, 1, 1, 2]);
  stream.res.destroy();
  await stream.ended;
});

test("a stream ends with its token", async () => {
  const stream = open(40_000);
  jest.advanceTimersByTime(39_999);
  await flushed();
  expect(stream.res.writableEnded).toBe(false);
  jest.advanceTimersByTime(1);
  await stream.ended;
  expect(stream.res.writableEnded).toBe(true);
});

test("a stream ends without a delivery when its caller cannot be verified", async () => {
  const recheck = () => Promise.reject(unavailable("Tokens cannot be verified at the moment; retry."));
  const stream = open(3_600_000, { recheck, deliveries: [{ id: "del_1" }] });
  stream.closed(null);
  await expect(stream.ended).rejects.toMatchObject({ type: "service_unavailable" });
  expect(stream.res.writableEnded).toBe(true);
  expect(stream.written.join("")).not.toContain("del_1");
});

test("nothing is written behind the end of a stream whose reader has not come to it", async () => {
  const stream = open(3_600_000, { stopping: true });
  const failed = jest.fn();
  stream.res.on("error", failed).pause();
  stream.closed(null);
  await stream.ended;
  expect([stream.res.writableEnded, stream.res.closed]).toEqual([true, false]);
  jest.advanceTimersByTime(15_000);
  await flushed();
  expect(failed).not.toHaveBeenCalled();
  stream.res.destroy();
});

test("a request that waits for another kind of answer gets no comments", async () => {
  const res = new PassThrough();
  const written = jest.spyOn(res, "write");
  const exchange = { res, caller: { expires_at: Date.now() + 60_000 } } as unknown as HttpExchange;
  const link: Link = { ending: new AbortController().signal, watch: () => () => {}, recheck: () => {} };
  const ended = endingOf(exchange, link);
  jest.advanceTimersByTime(59_999);
  expect([written.mock.calls, ended.aborted]).toEqual([[], false]);
  jest.advanceTimersByTime(1);
  expect(ended.aborted).toBe(true);
});
