import type { Call, Caller } from "../../../lib/access/caller.ts";
import { invalidValue } from "../../../lib/contract/faults.ts";
import { defined } from "../../../lib/defined.ts";
import { account } from "../../../middlewares/audit.ts";
import { noteChange } from "../../../storage/traffic/tally.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import { type DeadLetterFilter, findDead, type ManyParams, SHORT, visibleAgent } from "./dead-letter-find.ts";
import { causeOf, NOT_DEAD } from "./dead-letter-state.ts";
import { type DeliveryDoc, timelinePush } from "./deliveries.model.ts";
import type { DeliveryDeps } from "./deps.ts";

type Eligible = (row: DeliveryDoc) => boolean;

/** Limit of dead letters chosen by one bulk request, or counted. */
const MAX_CHOSEN = 10_000;
const MAX_GROUPS = 100;
/** Rows changed by one write. */
const WRITE_ROWS = 500;

/**
 * Returns the dead letters that a bulk request selects, and whether there are others. `isEligible` leaves out some.
 *
 * @throws Fault forbidden; validation_error unless it has either ids or a filter; not_found for an unknown agent
 */
export async function chooseDead(
  deps: DeliveryDeps,
  ctx: Call<ManyParams>,
  isEligible: Eligible = () => true,
) {
  const { caller } = ctx.meta;
  const { ids, dry_run: _, ...filter } = ctx.params;
  visibleAgent(caller);
  const isFiltered = Object.keys(defined(filter)).length > 0;
  if ((ids !== undefined) === isFiltered) {
    const got = ids ? "both" : "neither";
    throw invalidValue(
      "ids",
      `The request: expected either ids or a filter (reason, cause, agent_id, type, text, until), got ${got}.`,
    );
  }
  if (!ids) {
    const found = await chooseMatching(deps, caller, filter, isEligible);
    // A deleted agent may have left dead letters: one is unknown only if there are none either.
    if (filter.agent_id !== undefined && found.chosen.length === 0) await requireAgent(ctx, filter.agent_id);
    return found;
  }
  return { chosen: (await findByIds(deps, caller, ids)).filter(isEligible), more: false };
}

async function findByIds(
  { deliveries }: DeliveryDeps,
  caller: Caller,
  ids: string[],
): Promise<DeliveryDoc[]> {
  const agent_id = visibleAgent(caller);
  const filter = { _id: { $in: ids }, state: "dead" as const, ...(agent_id && { agent_id }) };
  return deliveries.find(caller.tenant_id, filter, SHORT);
}

async function chooseMatching(
  deps: DeliveryDeps,
  caller: Caller,
  filter: DeadLetterFilter,
  isEligible?: Eligible,
) {
  const wanted = { limit: MAX_CHOSEN, windows: Number.POSITIVE_INFINITY, ...(isEligible && { isEligible }) };
  const { rows, next } = await findDead(deps, caller, filter, wanted);
  return { chosen: rows, more: next !== null };
}

/** Groups dead letters by reason, most frequent first. */
function groupByReason(rows: DeliveryDoc[]) {
  return [...Map.groupBy(rows, ({ dlq_reason }) => dlq_reason as string)]
    .map(([dlq_reason, own]) => ({ dlq_reason, rows: own }))
    .sort((a, b) => b.rows.length - a.rows.length);
}

export async function countGroups(deps: DeliveryDeps, caller: Caller, filter: DeadLetterFilter) {
  const { chosen, more } = await chooseMatching(deps, caller, filter);
  const groups = [...Map.groupBy(chosen, ({ dlq_reason = "" }) => causeOf(dlq_reason))]
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, MAX_GROUPS)
    .map(([cause, rows]) => ({
      cause,
      dlq_reason: rows[0]?.dlq_reason as string,
      count: rows.length,
      agents: new Set(rows.flatMap(({ agent_id }) => agent_id ?? [])).size,
      // They are found latest first.
      latest_at: toTimestamp(rows[0] as DeliveryDoc),
    }));
  return { groups, total: chosen.length, more };
}

const toTimestamp = ({ dead_lettered_at }: DeliveryDoc) => (dead_lettered_at as Date).toISOString();

/** Answers a bulk request; its audit entry gets the count. */
export function answerMany(ctx: Call<ManyParams>, chosen: DeliveryDoc[], more: boolean) {
  const dry_run = ctx.params.dry_run === true;
  account(ctx, { count: chosen.length, dry_run });
  const groups = groupByReason(chosen).map(({ dlq_reason, rows }) => ({ dlq_reason, count: rows.length }));
  return { status: dry_run ? "dry_run" : "accepted", count: chosen.length, groups, more };
}

/** Discards dead letters. Of those with an event a row remains, so that no replay delivers it again. */
export async function discardMany(deps: DeliveryDeps, ctx: Call<ManyParams>) {
  const { chosen, more } = await chooseDead(deps, ctx);
  if (!ctx.params.dry_run) await discardRows(deps, ctx.meta.caller.tenant_id, chosen);
  return answerMany(ctx, chosen, more);
}

export async function discardRows(
  { deliveries, store }: DeliveryDeps,
  tenant_id: string,
  rows: DeliveryDoc[],
) {
  const entry = { at: new Date(store.now()), what: "discarded" as const };
  const change = { $set: { state: "discarded" as const }, $unset: NOT_DEAD, $push: timelinePush(entry) };
  const { kept = [], unmapped = [] } = Object.groupBy(rows, ({ event_id }) =>
    event_id === null ? "unmapped" : "kept",
  );
  for (const filter of byRows(kept)) await deliveries.updateMany(tenant_id, filter, change);
  for (const filter of byRows(unmapped)) await deliveries.deleteMany(tenant_id, filter);
  noteChange(tenant_id);
}

/** Returns filters of the rows that are still dead, for one write each. */
export function byRows(rows: Pick<DeliveryDoc, "_id">[]) {
  const count = Math.ceil(rows.length / WRITE_ROWS);
  return Array.from({ length: count }, (_, i) => ({
    _id: { $in: rows.slice(i * WRITE_ROWS, (i + 1) * WRITE_ROWS).map(({ _id }) => _id) },
    state: "dead" as const,
  }));
}
