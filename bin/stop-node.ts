import type { ServiceBroker } from "moleculer";
import type { FinishedCalls } from "../lib/broker/between-nodes.ts";
import type { HttpServer } from "../services/edge/gateway/server.ts";
import type { Runtime } from "../services/runtime.ts";

/** A stop without progress is given up after this long, counted in looks: a node that gets no processor is not stuck. */
const STALL_MS = 5000;
/** How long calls that other nodes never answer may hold it up, both those from here and those to here. */
const ANSWERS_MS = 2000;
const LOOK_MS = 100;

/** The parts that run in this process. */
export interface Node {
  broker: ServiceBroker;
  runtime: Runtime;
  /** The server of the metrics of a node without a gateway. */
  monitor: HttpServer | null;
  calls: FinishedCalls;
}

export function markStopping({ health }: Runtime): void {
  health.add("node", () => "shutting down");
}

/**
 * Finishes what is under way and ends the process: with 1 if that makes no progress for 5 s, or takes longer than
 * `SHUTDOWN_SECONDS`. Progress is that a call has finished, or a step.
 */
export async function stopNode({ broker, runtime, monitor, calls }: Node): Promise<never> {
  markStopping(runtime);
  let inProgress = "";
  const giveUp = giveUpWithoutProgress(runtime, calls, () => inProgress);
  const step = async (what: string, run: () => unknown) => {
    inProgress = what;
    await run();
  };
  // Before the servers wait for their connections.
  await step("answering waiting polls and closing streams", () => broker.broadcastLocal("node.stopping"));
  broker.options.tracking = { enabled: true, shutdownTimeout: ANSWERS_MS };
  await step("ending services", () => broker.stop());
  await step("closing the monitoring port", () => monitor?.close());
  runtime.windows?.close();
  await step("saving counts of storage", () => runtime.usage.stop());
  await step("saving counts of traffic", () => runtime.traffic.stop());
  await step("closing the record", () => runtime.store.close());
  await step("sending the last traces", () => runtime.hooks.tracing?.stop());
  clearInterval(giveUp);
  process.exit(0);
}

function giveUpWithoutProgress({ config, log }: Runtime, calls: FinishedCalls, inProgress: () => string) {
  const begun = performance.now();
  let seen = "";
  let stalledMs = 0;
  return setInterval(() => {
    const state = `${inProgress()} ${calls.count}`;
    stalledMs = state === seen ? stalledMs + LOOK_MS : 0;
    seen = state;
    const why =
      performance.now() - begun >= config.SHUTDOWN_SECONDS * 1000
        ? `took longer than SHUTDOWN_SECONDS (${config.SHUTDOWN_SECONDS} s)`
        : stalledMs >= STALL_MS && `made no progress for ${STALL_MS} ms`;
    if (!why) return;
    log.error({ under_way: inProgress() }, `shutdown ${why} and was aborted; accepted data is stored`);
    process.exit(1);
  }, LOOK_MS);
}
