import { isAdmin } from "../../../lib/access/caller.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { MAX_TYPES } from "../../../storage/traffic/tally.ts";
import type { Traffic } from "../../../storage/traffic/traffic.ts";
import type { CallOf } from "../../runtime.ts";
import type { readHistory } from "./live.contract.ts";

/** Answers `GET /stats/history`. */
export async function historyFor(traffic: Traffic, ctx: CallOf<typeof readHistory>) {
  const { range = "1h", agent_id, type } = ctx.params;
  const { caller } = ctx.meta;
  // Answers 404 unless the caller may read the agent.
  if (agent_id) await ctx.call("agents.get", { agent_id });
  const mayReadTypes = isAdmin(caller) || agent_id !== undefined;
  if (type !== undefined && !mayReadTypes)
    throw new Fault(
      "forbidden",
      "Only admins can read the traffic of a type. Add `agent_id`, or ask one of them.",
    );
  const { tenant_id } = caller;
  const [{ span, series, totals }, types] = await Promise.all([
    traffic.read(tenant_id, range, defined({ agent_id, type })),
    mayReadTypes ? traffic.types(tenant_id, range, agent_id ?? null, MAX_TYPES) : [],
  ]);
  const { latency_ms, timed, ...counts } = series;
  const { latency_ms: ms, timed: times, ...sums } = totals;
  return {
    range,
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
    step_seconds: span.step / 1000,
    series: { ...counts, latency_seconds: latency_ms.map((sum, i) => meanOf(sum, timed[i])) },
    totals: { ...sums, latency_seconds: meanOf(ms, times) },
    types,
  };
}

/** Returns the mean in seconds; null of none, and where nothing was recorded. */
const meanOf = (ms: number | null, times: number | null | undefined): number | null =>
  times ? (ms as number) / times / 1000 : null;
