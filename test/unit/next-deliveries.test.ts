import { expect, jest, test } from "@jest/globals";
import { Fault } from "../../lib/contract/faults.ts";
import type { Claimed, ClaimRequest } from "../../services/sense/deliveries/claim.ts";
import { nextDeliveries } from "../../services/sense/deliveries/poll.ts";
import { RequestQueues } from "../../services/sense/deliveries/receive.ts";
import type { Settled } from "../../services/sense/deliveries/settle.ts";

const COUNTS = { acknowledged: 1, nacked: 0, dead_lettered: 0 };
const FULL = new Error("the disk is full");
const DELIVERY = {
  ...{ id: "dlv_2", event_id: "evt_2", attempt_count: 1, created_at: "2026-01-31T09:30:00.000Z" },
  ...{ lease: "token", lease_expires_at: "2026-01-31T09:30:30.000Z", envelope: "{}" },
  matched: { interest_ids: [], feed_ids: [] },
} satisfies Claimed;

/** A request that acknowledges `dlv_1` and asks for the next, with a store that fails as told. */
function asked({ settle, claim, wait = 0 }: { settle?: Error; claim?: Error; wait?: number }) {
  const settled: string[] = [];
  const release = jest.fn(async () => 1);
  const warn = jest.fn();
  const ids = new Set(["dlv_1"]);
  const write = async (): Promise<Settled> => {
    if (settle) throw settle;
    settled.push(...ids);
    ids.clear();
    return COUNTS;
  };
  const claims = {
    reservingLease: async () => ({ lease: "token", due_at: new Date() }),
    deliver: async () => [],
    claim: async ({ settling }: ClaimRequest) => {
      if (wait) return { deliveries: [], drained: true };
      void settling?.write().catch(() => {});
      if (claim) throw claim;
      return { deliveries: [DELIVERY], drained: false };
    },
  };
  const caller = { kind: "agent", tenant_id: "tn_1", agent_id: "ag_1", scopes: ["receive"] };
  const params = { ack: { delivery_ids: ["dlv_1"] }, wait };
  let written: Promise<Settled> | undefined;
  const once = () => {
    written ??= write();
    return written;
  };
  const receiving = {
    requestQueues: new RequestQueues(claims as never, Date.now),
    settlements: { prepare: async () => ({ ids, write: once }), release },
    asks: () => {},
    logger: { warn },
  };
  const answer = nextDeliveries(
    receiving as never,
    { params, meta: { caller, request_id: "req_1" } } as never,
  );
  return { answer: answer.then((text) => JSON.parse(text)), settled, release, warn, params };
}

test("what is settled is answered although the next cannot be claimed", async () => {
  const { answer, settled, warn } = asked({ claim: FULL });
  expect(await answer).toEqual({ deliveries: [], count: 0, ...COUNTS });
  expect(settled).toEqual(["dlv_1"]);
  expect(warn).toHaveBeenCalledWith({ err: FULL }, expect.stringContaining("settled"));
});

test("it fails if it cannot settle, and what was claimed meanwhile is released", async () => {
  const { answer, release } = asked({ settle: FULL });
  await expect(answer).rejects.toBe(FULL);
  const held = { tenant_id: "tn_1", agent_id: "ag_1", lease: "token", delivery_ids: ["dlv_2"] };
  expect(release.mock.calls).toEqual([[held]]);
});

test("it does not wait for the next if it cannot settle", async () => {
  const { answer, release } = asked({ settle: new Fault("service_unavailable", "Busy."), wait: 30 });
  await expect(answer).rejects.toMatchObject({ type: "service_unavailable" });
  expect(release).not.toHaveBeenCalled();
});

test("while it waits, it keeps nothing of what it has settled", async () => {
  const { answer, params } = asked({});
  await answer;
  expect(params).toEqual({ wait: 0 });
});
