import { PassThrough } from "node:stream";
import { expect, jest, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import { Fault, unavailable } from "../../lib/contract/faults.ts";
import type { HttpExchange, Link } from "../../services/edge/gateway/http-exchange.ts";
import { whileWanted } from "../../services/edge/gateway/streams/long-poll.ts";

const watched = { ending: new AbortController().signal, watch: () => () => {}, recheck: async () => {} };

/** Returns the signals to a call that starts waiting for a caller who may have left. */
async function toldOf(left: boolean, link: Link = watched): Promise<string[]> {
  const told: string[] = [];
  const broker = { broadcast: (event: string) => told.push(event) } as unknown as ServiceBroker;
  const caller = { kind: "agent", tenant_id: "tn_a", agent_id: "ag_a" };
  const res = new PassThrough();
  if (left) res.destroy();
  const exchange = { res, caller, request_id: "req_1" } as unknown as HttpExchange;
  await whileWanted(broker, exchange, link, async () => "answered");
  return told;
}

test("a caller who left before the wait began is known to have left", async () => {
  expect(await toldOf(true)).toEqual(["request.abandoned"]);
  expect(await toldOf(false)).toEqual([]);
});

test("a caller who cannot be verified when the wait is over gets nothing", async () => {
  const fault = unavailable("Tokens cannot be verified at the moment; retry.");
  await expect(toldOf(false, { ...watched, recheck: () => Promise.reject(fault) })).rejects.toBe(fault);
});

test("a caller who is refused meanwhile gets that for an answer, and is no longer watched", async () => {
  const fault = new Fault("authentication_failed", "revoked");
  let isWatched = false;
  const watch: Link["watch"] = (refuse) => {
    isWatched = true;
    refuse(fault);
    return () => {
      isWatched = false;
    };
  };
  await expect(toldOf(false, { ...watched, watch })).rejects.toBe(fault);
  expect(isWatched).toBe(false);
});

test("a service that was told before it began to wait is told again, until the call ends", async () => {
  const res = new PassThrough();
  res.destroy();
  const caller = { kind: "agent", tenant_id: "tn_a", agent_id: "ag_a" };
  const exchange = { res, caller, request_id: "req_1" } as unknown as HttpExchange;
  const { promise, resolve } = Promise.withResolvers<string>();
  let told = 0;
  const broadcast = () => {
    if (++told === 3) resolve("ended");
  };
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
  try {
    const answer = whileWanted({ broadcast } as never, exchange, watched, () => promise);
    await new Promise((done) => setImmediate(done));
    await jest.advanceTimersByTimeAsync(1000);
    expect(await answer).toBe("ended");
    await jest.advanceTimersByTimeAsync(60_000);
    expect(told).toBe(3);
  } finally {
    jest.useRealTimers();
  }
});
