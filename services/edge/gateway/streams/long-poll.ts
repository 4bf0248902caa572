import type { ServiceBroker } from "moleculer";
import { type Caller, callerId } from "../../../../lib/access/caller.ts";
import type { Exchange, Link } from "../exchange.ts";

const RECHECK_MS = 2000;

/**
 * Runs a call that may wait for long, such as a poll. If its caller disconnects or is refused meanwhile, or this node
 * is about to stop, `request.abandoned` tells its service to end it, so that later deliveries go to another receiver.
 *
 * @throws Fault authentication_failed once the caller is refused (api.md "Who calls": within 5 seconds)
 */
export async function whileWanted<T>(
  broker: ServiceBroker,
  { res, caller, request_id }: Exchange,
  { ending, recheck }: Link,
  call: () => Promise<T>,
): Promise<T> {
  let refusal: unknown;
  const abandon = () => {
    if (res.writableFinished) return;
    broker.broadcast("request.abandoned", { caller_id: callerId(caller as Caller), request_id });
  };
  const checks = setInterval(async () => {
    await recheck().catch((err) => {
      refusal = err;
      abandon();
    });
  }, RECHECK_MS);
  res.once("close", abandon);
  ending.addEventListener("abort", abandon, { once: true });
  try {
    const answer = call();
    // The node may have started to stop, or the caller have disconnected, while the request was on its way here.
    if (ending.aborted || res.destroyed) abandon();
    const result = await answer;
    if (refusal) throw refusal;
    return result;
  } finally {
    clearInterval(checks);
    ending.removeEventListener("abort", abandon);
  }
}
