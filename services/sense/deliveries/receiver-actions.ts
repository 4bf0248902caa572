import type { ActionSchema } from "moleculer";
import { type AgentCaller, type Caller, hasScope } from "../../../lib/access/caller.ts";
import { action } from "../../runtime.ts";
import * as contract from "./deliveries.contract.ts";
import { deliveryJson } from "./delivery-json.ts";
import type { Parts } from "./parts.ts";
import { acknowledge, extendLeases, giveBack } from "./settle.ts";

/** Actions of agents on their deliveries. */
export function receiverActions(parts: () => Parts): Record<string, ActionSchema> {
  return {
    // A long poll takes as long as its caller asked for, plus the time to answer.
    poll: withTimeout(
      (contract.MAX_WAIT_SECONDS + 10) * 1000,
      action(contract.poll, async ({ params, meta }) => {
        const { tenant_id, agent_id } = self(meta.caller);
        const limit = clamp(params.limit ?? contract.BATCH, 1, contract.BATCH);
        const wait_ms = clamp(params.wait ?? 0, 0, contract.MAX_WAIT_SECONDS) * 1000;
        const cancel_key = `${agent_id} ${meta.request_id}`;
        const reads_memories = hasScope(meta.caller, "memory:read");
        const wish = { tenant_id, agent_id, limit, wait_ms, cancel_key, reads_memories };
        const { deliveries } = await parts().receivers.receive(wish);
        // JSON text, so that stored events are passed on unparsed; the gateway sends text of this type as it is.
        meta.$responseType = "application/json";
        return `{"deliveries":[${deliveries.map(deliveryJson).join(",")}],"count":${deliveries.length}}`;
      }),
    ),

    ack: action(contract.ack, async ({ params: { delivery_ids }, meta }) => {
      const { deliveries, receivers, now, retireAt } = parts();
      const { tenant_id, agent_id } = self(meta.caller);
      const at = now();
      const settlement = { tenant_id, agent_id, delivery_ids, at };
      const acknowledged = await acknowledge(deliveries, settlement, retireAt(at));
      receivers.settled(agent_id, delivery_ids);
      return { acknowledged };
    }),

    nack: action(contract.nack, async ({ params: { delivery_ids, delay_seconds, reason }, meta }) => {
      const { deliveries, agents, receivers, loops, now, announceReady } = parts();
      const { tenant_id, agent_id } = self(meta.caller);
      const { retry_budget } = await agents.get(tenant_id, agent_id);
      const { ready, ...counted } = await giveBack(deliveries, {
        ...{ tenant_id, agent_id, delivery_ids, at: now(), retry_budget },
        ...(delay_seconds !== undefined && { delay: () => delay_seconds }),
        reason: () => reason,
      });
      receivers.settled(agent_id, delivery_ids);
      if (ready) announceReady([{ tenant_id, agent_id }]);
      if (counted.dead_lettered) loops.announcements.nudge();
      return counted;
    }),

    extend: action(contract.extend, async ({ params: { delivery_ids, seconds }, meta }) => {
      const { deliveries, receivers, now } = parts();
      const { tenant_id, agent_id } = self(meta.caller);
      const settlement = { tenant_id, agent_id, delivery_ids, at: now() };
      const extended = await extendLeases(deliveries, settlement, seconds);
      receivers.extended(agent_id, delivery_ids, settlement.at.getTime() + seconds * 1000);
      return { extended };
    }),
  };
}

/** The contract admits only agents here. */
function self(caller: Caller): AgentCaller {
  return caller as AgentCaller;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** Gives a long-waiting action its own timeout and no concurrency limit: waiting costs nothing. */
export function withTimeout(timeout: number, schema: ActionSchema): ActionSchema {
  // Moleculer knows both; its types do not.
  return { ...schema, timeout, bulkhead: { enabled: false } } as ActionSchema;
}
