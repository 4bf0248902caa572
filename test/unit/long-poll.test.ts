import { PassThrough } from "node:stream";
import { expect, test } from "@jest/globals";
import type { ServiceBroker } from "moleculer";
import type { Exchange } from "../../services/edge/gateway/exchange.ts";
import { whileWanted } from "../../services/edge/gateway/streams/long-poll.ts";

/** Returns the signals to a call that starts waiting for a caller who may have left. */
async function toldOf(left: boolean): Promise<string[]> {
  const told: string[] = [];
  const broker = { broadcast: (event: string) => told.push(event) } as unknown as ServiceBroker;
  const caller = { kind: "agent", tenant_id: "tn_a", agent_id: "ag_a" };
  const res = new PassThrough();
  if (left) res.destroy();
  const exchange = { res, caller, request_id: "req_1" } as unknown as Exchange;
  const link = { ending: new AbortController().signal, recheck: async () => {} };
  await whileWanted(broker, exchange, link, async () => "answered");
  return told;
}

test("a caller who left before the wait began is known to have left", async () => {
  expect(await toldOf(true)).toEqual(["request.abandoned"]);
  expect(await toldOf(false)).toEqual([]);
});
