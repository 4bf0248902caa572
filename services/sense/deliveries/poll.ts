import { type AgentCaller, type Call, hasScope } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { BATCH, MAX_WAIT_SECONDS, type poll } from "./deliveries.contract.ts";
import { deliveryJson } from "./delivery-json.ts";
import type { Receivers } from "./receive.ts";

/** Limit of a long poll: as long as its caller asked for, plus the time to answer. */
export const POLL_TIMEOUT_MS = (MAX_WAIT_SECONDS + 10) * 1000;

/** Claims an agent's next deliveries, waiting for a first one if requested. */
export async function pollDeliveries(
  receivers: Receivers,
  { params, meta }: Call<ParamsOf<typeof poll>>,
): Promise<string> {
  const { tenant_id, agent_id } = meta.caller as AgentCaller;
  const { deliveries } = await receivers.receive({
    tenant_id,
    agent_id,
    limit: clamp(params.limit ?? BATCH, 1, BATCH),
    wait_ms: clamp(params.wait ?? 0, 0, MAX_WAIT_SECONDS) * 1000,
    cancel_key: `${agent_id} ${meta.request_id}`,
    reads_memories: hasScope(meta.caller, "memory:read"),
  });
  // JSON text, so that stored events are passed on unparsed; the gateway sends text of this type as it is.
  meta.$responseType = "application/json";
  return `{"deliveries":[${deliveries.map((each) => deliveryJson(each)).join(",")}],"count":${deliveries.length}}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
