import type { ServiceBroker } from "moleculer";
import { type AgentCaller, type Call, hasScope, type OfAgent } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { type Claimed, deliveryJson, type Settling } from "./claim.ts";
import {
  BATCH,
  MAX_WAIT_SECONDS,
  type pollDeliveries,
  type receiveNextDeliveries,
} from "./deliveries.contract.ts";
import type { Received, ReceiveRequest, RequestQueues } from "./receive.ts";
import type { Settled, Settlements } from "./settle.ts";

/** Limit of a long poll: as long as its caller asked for, plus the time to answer. */
export const POLL_TIMEOUT_MS = (MAX_WAIT_SECONDS + 10) * 1000;

type PollCall = Call<ParamsOf<typeof pollDeliveries>>;

/** Claims an agent's next deliveries, waiting for a first one if requested. */
export async function answerPoll(deps: Omit<Receiving, "settlements">, call: PollCall): Promise<string> {
  deps.asks(call.meta.caller as AgentCaller);
  const { deliveries } = await deps.requestQueues.receive(requestOf(call));
  return answerOf(call, deliveries);
}

interface Receiving {
  requestQueues: RequestQueues;
  settlements: Pick<Settlements, "prepare" | "release">;
  /** Notes that an agent asks for deliveries. */
  asks: (agent: OfAgent) => void;
  logger: ServiceBroker["logger"];
}

/** Settles deliveries and claims the next as a poll does. @throws what prevented settling; nothing is leased then */
export async function nextDeliveries(
  deps: Receiving,
  call: Call<ParamsOf<typeof receiveNextDeliveries>>,
): Promise<string> {
  const { params, meta } = call;
  deps.asks(meta.caller as AgentCaller);
  const settling = await deps.settlements.prepare(meta.caller as AgentCaller, params);
  const isSettling = settling.ids.size > 0;
  // Not in memory while it waits.
  delete params.ack;
  delete params.nack;
  const { received, settled } = await settleAndReceive(deps, requestOf(call), settling);
  if (received.status === "fulfilled") return answerOf(call, received.value.deliveries, settled);
  if (!isSettling) throw received.reason;
  deps.logger.warn({ err: received.reason }, "deliveries: settled, but the next could not be claimed");
  return answerOf(call, [], settled);
}

/** Settles, and claims or says what prevented that, in one commit if the store can. @throws as `nextDeliveries` */
export async function settleAndReceive<Settled>(
  { requestQueues, settlements }: Pick<Receiving, "requestQueues" | "settlements">,
  request: ReceiveRequest,
  settling: Settling<Settled>,
): Promise<{ received: PromiseSettledResult<Received>; settled: Settled }> {
  const [received] = await Promise.allSettled([requestQueues.receive({ ...request, settling })]);
  try {
    return { received, settled: await settling.write() };
  } catch (err) {
    if (received.status === "fulfilled") await releaseAll(settlements, request, received.value.deliveries);
    throw err;
  }
}

async function releaseAll(
  settlements: Pick<Settlements, "release">,
  { tenant_id, agent_id }: ReceiveRequest,
  deliveries: Claimed[],
): Promise<void> {
  const [first] = deliveries;
  if (!first) return;
  const held = { tenant_id, agent_id, lease: first.lease, delivery_ids: deliveries.map(({ id }) => id) };
  // If this fails too, they are ready when the lease ends.
  await settlements.release(held).catch(() => undefined);
}

function requestOf({ params, meta }: PollCall): ReceiveRequest {
  const { tenant_id, agent_id } = meta.caller as AgentCaller;
  return {
    tenant_id,
    agent_id,
    limit: clamp(params.limit ?? BATCH, 1, BATCH),
    wait_ms: clamp(params.wait ?? 0, 0, MAX_WAIT_SECONDS) * 1000,
    cancel_key: `${agent_id} ${meta.request_id}`,
    reads_memories: hasScope(meta.caller, "memory:read"),
  };
}

/** Returns JSON text, so that stored events are passed on unparsed; the gateway sends text of this type as it is. */
function answerOf({ meta }: PollCall, deliveries: Claimed[], settled?: Settled): string {
  meta.$responseType = "application/json";
  // Not `join`: it would copy the text again.
  let list = "";
  for (const each of deliveries) list += `${list && ","}${deliveryJson(each)}`;
  const counts = settled ? `,${JSON.stringify(settled).slice(1)}` : "}";
  return `{"deliveries":[${list}],"count":${deliveries.length}${counts}`;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
