import type { ServiceBroker } from "moleculer";
import { type Caller, callerId } from "../../../../lib/access/caller.ts";
import type { Fault } from "../../../../lib/contract/faults.ts";
import type { HttpExchange, Link } from "../http-exchange.ts";

/**
 * Its service may not have begun to wait when it is told, so it is told again until the call ends: after this time, then
 * after twice as long each time.
 */
const AGAIN_MS = 50;

/**
 * Runs a call that may wait for long, such as a poll. If its caller disconnects or is refused meanwhile, or this node
 * is about to stop, `request.abandoned` tells its service to end it, so that later deliveries go to another receiver.
 * @throws Fault authentication_failed once the caller is refused (api.md "Who calls": within 5 seconds)
 */
export async function whileWanted<T>(
  broker: ServiceBroker,
  { res, caller, request_id }: HttpExchange,
  { ending, watch, recheck }: Link,
  call: () => Promise<T>,
): Promise<T> {
  let refusal: Fault | undefined;
  let again: NodeJS.Timeout | undefined;
  let pause = AGAIN_MS;
  let isOver = false;
  const abandon = () => {
    if (isOver || res.writableFinished) return;
    clearTimeout(again);
    again = setTimeout(abandon, pause).unref();
    pause *= 2;
    broker.broadcast("request.abandoned", { caller_id: callerId(caller as Caller), request_id });
  };
  const leave = watch((fault) => {
    refusal = fault;
    abandon();
  });
  res.once("close", abandon);
  ending.addEventListener("abort", abandon, { once: true });
  try {
    const answer = call();
    // The node may have started to stop, or the caller have disconnected, while the request was on its way here.
    if (ending.aborted || res.destroyed) abandon();
    const result = await answer;
    if (refusal) throw refusal;
    await recheck();
    return result;
  } finally {
    isOver = true;
    clearTimeout(again);
    leave();
    ending.removeEventListener("abort", abandon);
  }
}
