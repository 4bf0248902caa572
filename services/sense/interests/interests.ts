import { type Call, isAdmin } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { conflict, forbidden, requireFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { checkFilter, checkGlob, givenFilter } from "../../../lib/contract/subscription.ts";
import { newId } from "../../../lib/ids.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { isDuplicateKey } from "../../../storage/write-errors.ts";
import { requireAgent } from "../../identity/agents/find-agent.ts";
import { changeRouting } from "../../identity/tenants/routing-change.ts";
import { adviseOn } from "./advice.ts";
import { isOfService, type LatestParams, type Sample, TEST_EVENTS, tryInterest } from "./explain.ts";
import type { InterestLimits } from "./interest-limits.ts";
import * as contract from "./interests.contract.ts";
import { conflictKey, type InterestDoc } from "./interests.model.ts";
import type { Routing } from "./routing.ts";

type CreateParams = ParamsOf<typeof contract.createInterest>;
type UpdateParams = ParamsOf<typeof contract.updateInterest>;

interface InterestsDeps {
  interests: TenantCollection<InterestDoc>;
  store: Store;
  limits: InterestLimits;
  routing: Pick<Routing, "suspendedFor">;
}

const DEFAULT_PRIORITY = 5;
const CHANGEABLE = [
  "event_type",
  "filter_expression",
  "priority",
  "enrichment_depth",
  "retry_delays_seconds",
  "ordering_key",
] as const;

/** Refuses an agent that would subscribe another, also with the scope `admin`: it decides what reaches that agent. */
function requireOwnOrPerson({ meta: { caller }, params: { agent_id } }: Call<{ agent_id: string }>): void {
  if (caller.kind !== "agent" || caller.agent_id === agent_id) return;
  throw forbidden(
    "An agent creates interests only for itself. Ask a person who is an admin, or add the agent to a channel.",
  );
}

export class Interests {
  readonly #deps: InterestsDeps;

  constructor(deps: InterestsDeps) {
    this.#deps = deps;
  }

  async create(ctx: Call<CreateParams>) {
    const { agent_id, event_type, priority = DEFAULT_PRIORITY, enrichment_depth = "none" } = ctx.params;
    const { retry_delays_seconds = null, ordering_key = null } = ctx.params;
    const filter_expression = givenFilter(ctx.params.filter_expression);
    await authorizeAgent(ctx);
    requireOwnOrPerson(ctx);
    check(ctx.params);
    const { tenant_id } = ctx.meta.caller;
    const warnings = await adviseOn(ctx, { tenant_id, glob: event_type, filter: filter_expression });
    const at = this.#now();
    const row: InterestDoc = {
      ...{ _id: newId("int", ctx.meta.idempotency_seed), tenant_id, agent_id },
      ...{ event_type, filter_expression, priority, enrichment_depth, retry_delays_seconds, ordering_key },
      conflict_key: conflictKey(agent_id, event_type, filter_expression),
      unmatched_since: at,
      created_at: at,
      updated_at: at,
    };
    const created = await this.#deps.limits.within(row, async () => {
      const insert = () => this.#deps.interests.insertOnce(row).catch(this.#onConflict(row));
      return changeRouting(ctx, row.tenant_id, `interest ${row._id}`, insert);
    });
    return this.#present(created, warnings);
  }

  async update(ctx: Call<UpdateParams>) {
    await authorizeAgent(ctx);
    check(ctx.params);
    const { tenant_id } = ctx.meta.caller;
    const { id, agent_id } = ctx.params;
    const known = await this.#find(tenant_id, agent_id, id);
    const changed = CHANGEABLE.filter((field) => ctx.params[field] !== undefined);
    const changes: Partial<InterestDoc> = Object.fromEntries(
      changed.map((field) => [field, ctx.params[field]]),
    );
    if ("filter_expression" in changes) changes.filter_expression = givenFilter(changes.filter_expression);
    const { event_type, filter_expression } = { ...known, ...changes };
    const conflict_key = conflictKey(agent_id, event_type, filter_expression);
    // Set only the given fields: concurrent changes must not revert each other.
    const isOther = conflict_key !== known.conflict_key;
    const subscribing = { tenant_id, glob: event_type, filter: filter_expression };
    const warnings = isOther ? await adviseOn(ctx, subscribing) : [];
    const at = this.#now();
    const $set = { ...changes, conflict_key, updated_at: at, ...(isOther && { unmatched_since: at }) };
    // Guarded by the state read before: the conflict key depends on fields that others may change.
    const unchanged = { _id: id, agent_id, conflict_key: known.conflict_key };
    const row = await changeRouting(ctx, tenant_id, `interest ${id}`, () =>
      this.#deps.interests
        .update(tenant_id, unchanged, { $set })
        .catch(this.#onConflict({ tenant_id, conflict_key })),
    );
    if (!row)
      throw conflict("The interest was changed concurrently. Read it again, then retry.", {
        existing_resource_id: id,
      });
    return this.#present(row, warnings);
  }

  async list(ctx: Call<ParamsOf<typeof contract.listInterests>>) {
    await authorizeAgent(ctx);
    const { agent_id } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const sort = { created_at: 1, _id: 1 } as const;
    const { rows, total } = await this.#deps.interests.page(tenant_id, { agent_id }, sort, ctx.params);
    return { interests: rows.map((row) => this.#present(row)), total };
  }

  async get(ctx: Call<ParamsOf<typeof contract.getInterest>>) {
    await authorizeAgent(ctx);
    const { agent_id, id } = ctx.params;
    return this.#present(await this.#find(ctx.meta.caller.tenant_id, agent_id, id));
  }

  async delete(ctx: Call<ParamsOf<typeof contract.deleteInterest>>): Promise<void> {
    await authorizeAgent(ctx);
    const { id, agent_id } = ctx.params;
    const { tenant_id } = ctx.meta.caller;
    const deleted = await changeRouting(ctx, tenant_id, `interest ${id}`, () =>
      this.#deps.interests.delete(tenant_id, { _id: id, agent_id }),
    );
    requireFound(deleted, "interest", id);
  }

  async test(ctx: Call<ParamsOf<typeof contract.testInterest>>) {
    await authorizeAgent(ctx);
    check(ctx.params);
    const { event_type } = ctx.params;
    const filter_expression = givenFilter(ctx.params.filter_expression);
    const { include_service = isOfService(event_type) } = ctx.params;
    const latest = { tenant_id: ctx.meta.caller.tenant_id, limit: TEST_EVENTS, include_service };
    const samples = await ctx.call<Sample[], LatestParams>("events.latest", latest);
    return tryInterest(event_type, filter_expression, samples);
  }

  async #find(tenant_id: string, agent_id: string, id: string): Promise<InterestDoc> {
    return requireFound(await this.#deps.interests.findOne(tenant_id, { _id: id, agent_id }), "interest", id);
  }

  /** Returns a handler of a failed write, which names the existing interest on a duplicate key. */
  #onConflict({ tenant_id, conflict_key }: Pick<InterestDoc, "tenant_id" | "conflict_key">) {
    return async (err: unknown): Promise<never> => {
      if (!isDuplicateKey(err)) throw err;
      const other = await this.#deps.interests.findOne(tenant_id, { conflict_key });
      const named = other ? `: ${other._id}` : "";
      const message = `The agent already has an interest with this event type and filter${named}. Update that one.`;
      throw ruleBroken("interest_conflict", message, { existing_resource_id: other?._id ?? null });
    };
  }

  #present(row: InterestDoc, warnings: string[] = []) {
    const ms = this.#deps.routing.suspendedFor(row.tenant_id, row._id);
    return presentAs(
      contract.Interest,
      { retry_delays_seconds: null, ordering_key: null, ...row },
      {
        filter_suspended_until: ms > 0 ? new Date(this.#deps.store.now() + ms).toISOString() : null,
        ...(warnings.length > 0 && { warnings }),
      },
    );
  }

  #now(): Date {
    return new Date(this.#deps.store.now());
  }
}

/** Rejects an invalid glob or filter. @throws Fault validation_error */
function check({ event_type, filter_expression }: Partial<CreateParams>): void {
  if (event_type !== undefined) checkGlob("event_type", event_type);
  checkFilter("filter_expression", filter_expression);
}

/** Requires the agent itself, or an admin of its tenant. @throws Fault not_found, forbidden */
async function authorizeAgent(ctx: Call<{ agent_id: string }>): Promise<void> {
  const { caller } = ctx.meta;
  const { agent_id } = ctx.params;
  await requireAgent(ctx, agent_id);
  const own = caller.kind === "agent" && caller.agent_id === agent_id;
  if (!own && !isAdmin(caller))
    throw forbidden("Only the agent itself and admins can read its interests. Ask one of them.");
}
