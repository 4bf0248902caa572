import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { Call } from "../../../lib/access/caller.ts";
import { audienceIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Fault, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { newId } from "../../../lib/ids.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { isDuplicateKey } from "../../../storage/collection.ts";
import { action, idempotent, local, type Runtime } from "../../runtime.ts";
import { ofAudience } from "./audience.ts";
import { type Sample, tryInterest } from "./dry-run.ts";
import * as contract from "./interests.contract.ts";
import { conflictKey, type InterestDoc, InterestModel } from "./interests.model.ts";
import { InterestLimits } from "./limits.ts";
import { agentOf } from "./owner.ts";
import { Routing } from "./routing.ts";
import { type RoutingChange, type RoutingChanged, raiseRouting } from "./routing-change.ts";
import type { MatchedReceiver } from "./routing-table.ts";
import {
  type CreateParams,
  changesOf,
  check,
  present as presentRow,
  subscribed,
  type UpdateParams,
} from "./rows.ts";

const TEST_EVENTS = 100;
const DEFAULT_PRIORITY = 5;
/** Limit of deliveries that a publisher waits for: they are written in the commit that accepts the event. */
const MAX_RECEIVERS_AT_ONCE = 32;
const MAX_DELIVERIES_AT_ONCE = 1_000;
/** Limit of the cost of matching one commit, in units of filter cost: some 5 ms. Fan-out does the rest. */
const WORK_AT_ONCE = 200_000;
/** How long matching may block the event loop. */
const SLICE_MS = 3;

interface MatchParams {
  tenant_id: string;
  events: { event_id: string; envelope: CloudEvent }[];
  /** Stop after the event that reaches this many receivers: the answer then holds fewer events than requested. */
  max_receivers?: number;
}

export function interestsService({ store, config }: Runtime): ServiceSchema {
  const interests = store.collection(InterestModel);
  let broker: ServiceBroker;
  let routing: Routing;
  let limits: InterestLimits;
  const now = () => new Date(store.now());

  function present(row: InterestDoc) {
    const ms = routing.suspendedFor(row.tenant_id, row._id);
    return presentRow(row, ms > 0 ? store.now() + ms : null);
  }

  async function create(ctx: Call<CreateParams>) {
    const { agent_id, event_type, filter_expression = null, priority, enrichment_depth } = ctx.params;
    const agent = await agentOf(ctx);
    check(ctx.params);
    const at = now();
    const wanted: InterestDoc = {
      _id: newId("int", ctx.meta.idempotency_seed),
      tenant_id: ctx.meta.caller.tenant_id,
      agent_id,
      event_type,
      filter_expression,
      priority: priority ?? DEFAULT_PRIORITY,
      enrichment_depth: enrichment_depth ?? "none",
      conflict_key: conflictKey(agent_id, event_type, filter_expression),
      created_at: at,
      updated_at: at,
    };
    const row = await limits.within(wanted, async () => {
      const inserted = await insert(wanted);
      await tellRouting(ctx, inserted._id, subscribed(inserted, agent.status === "active"));
      return inserted;
    });
    return present(row);
  }

  async function insert(row: InterestDoc): Promise<InterestDoc> {
    try {
      return await interests.insertOnce(row);
    } catch (err) {
      throw isDuplicateKey(err) ? await conflictWith(row) : err;
    }
  }

  async function update(ctx: Call<UpdateParams>) {
    const agent = await agentOf(ctx);
    check(ctx.params);
    const { tenant_id } = ctx.meta.caller;
    const { id, agent_id } = ctx.params;
    const known = await find(tenant_id, agent_id, id);
    const changes = changesOf(ctx.params);
    const { event_type, filter_expression } = { ...known, ...changes };
    const conflict_key = conflictKey(agent_id, event_type, filter_expression);
    // Set only the given fields: concurrent changes must not revert each other.
    const $set = { ...changes, conflict_key, updated_at: now() };
    // Guarded by the state read before: the conflict key depends on fields that others may change.
    const row = await interests
      .update(tenant_id, { _id: id, agent_id, conflict_key: known.conflict_key }, { $set })
      .catch(async (err) => {
        throw isDuplicateKey(err) ? await conflictWith({ tenant_id, conflict_key }) : err;
      });
    if (!row)
      throw new Fault("conflict", "The interest was changed meanwhile; read it again.", {
        existing_resource_id: id,
      });
    await tellRouting(ctx, id, subscribed(row, agent.status === "active"));
    return present(row);
  }

  function tellRouting(ctx: Call<{ agent_id: string }>, id: string, change: RoutingChange): Promise<void> {
    const { tenant_id } = ctx.meta.caller;
    const { agent_id } = ctx.params;
    return raiseRouting(ctx, tenant_id, change, async () => {
      const [row, agent] = await Promise.all([
        interests.findOne(tenant_id, { _id: id, agent_id }),
        agentOf(ctx),
      ]);
      return row ? subscribed(row, agent.status === "active") : { kind: "unsubscribe", id };
    });
  }

  async function find(tenant_id: string, agent_id: string, id: string): Promise<InterestDoc> {
    const row = await interests.findOne(tenant_id, { _id: id, agent_id });
    if (!row) throw notFound("interest", id);
    return row;
  }

  async function conflictWith({
    tenant_id,
    conflict_key,
  }: Pick<InterestDoc, "tenant_id" | "conflict_key">): Promise<Fault> {
    const other = await interests.findOne(tenant_id, { conflict_key });
    const message = "The agent has an interest in this event type with this filter already.";
    return ruleBroken("interest_conflict", message, { existing_resource_id: other?._id ?? null });
  }

  /** Returns the receivers of each event. The routing is current or newer. */
  async function match({ tenant_id, events, max_receivers = Number.POSITIVE_INFINITY }: MatchParams) {
    const table = await routing.current(tenant_id);
    const matches: { event_id: string; receivers: MatchedReceiver[] }[] = [];
    let total = 0;
    const slices = new Slices(SLICE_MS);
    for (const { event_id, envelope } of events) {
      const wanting = await table.match(envelope);
      const receivers = await ofAudience(broker, tenant_id, envelope, wanting);
      matches.push({ event_id, receivers });
      total += receivers.length;
      if (total >= max_receivers) break;
      if (slices.over) await slices.next();
    }
    return matches;
  }

  /**
   * Returns the receivers of the first events, as far as look-ups suffice: stops before an event with a filter to
   * evaluate, an audience, or more receivers than fit.
   */
  async function matchAtOnce(tenant_id: string, events: CloudEvent[]): Promise<MatchedReceiver[][]> {
    const table = await routing.atHand(tenant_id);
    const matches: MatchedReceiver[][] = [];
    if (!table) return matches;
    let total = 0;
    const work = { left: WORK_AT_ONCE };
    for (const event of events) {
      const most = Math.min(MAX_RECEIVERS_AT_ONCE, MAX_DELIVERIES_AT_ONCE - total);
      const receivers = audienceIn(event) ? null : table.matchAtOnce(event, most, work);
      if (!receivers) break;
      total += receivers.length;
      matches.push(receivers);
    }
    return matches;
  }

  return {
    name: "interests",
    actions: {
      create: action(contract.createInterest, create),
      update: action(contract.updateInterest, update),

      list: action(contract.listInterests, async (ctx) => {
        await agentOf(ctx);
        const { agent_id, offset = 0, limit = 50 } = ctx.params;
        const { tenant_id } = ctx.meta.caller;
        const sort = { created_at: 1, _id: 1 } as const;
        const [rows, total] = await Promise.all([
          interests.find(tenant_id, { agent_id }, { sort, skip: offset, limit }),
          interests.count(tenant_id, { agent_id }),
        ]);
        return { interests: rows.map(present), total };
      }),

      get: action(contract.getInterest, async (ctx) => {
        await agentOf(ctx);
        return present(await find(ctx.meta.caller.tenant_id, ctx.params.agent_id, ctx.params.id));
      }),

      delete: action(contract.deleteInterest, async (ctx) => {
        await agentOf(ctx);
        const { id, agent_id } = ctx.params;
        const { tenant_id } = ctx.meta.caller;
        if (!(await interests.delete(tenant_id, { _id: id, agent_id }))) throw notFound("interest", id);
        await tellRouting(ctx, id, { kind: "unsubscribe", id });
      }),

      test: action(contract.testInterest, async (ctx) => {
        await agentOf(ctx);
        check(ctx.params);
        const { event_type, filter_expression = null } = ctx.params;
        const latest = { tenant_id: ctx.meta.caller.tenant_id, limit: TEST_EVENTS };
        return tryInterest(
          event_type,
          filter_expression,
          await ctx.call<Sample[], unknown>("events.latest", latest),
        );
      }),

      /**
       * Throws if the tenant has no capacity for another feed. @throws Fault business_rule_violation, rule
       * `interest_limit`
       */
      require_capacity: idempotent<{ tenant_id: string }>(({ params }) =>
        limits.requireForTenant(params.tenant_id),
      ),

      any: idempotent<{ tenant_id: string }>(({ params }) => interests.exists(params.tenant_id, {})),

      match: idempotent<MatchParams>(({ params }) => match(params)),

      match_at_once: local<{ tenant_id: string; events: CloudEvent[] }>(({ params }) =>
        matchAtOnce(params.tenant_id, params.events),
      ),

      /** Returns the types that some interest or feed subscribes to. The routing is current or newer. */
      taken: idempotent<{ tenant_id: string; types: string[] }>(async ({ params: { tenant_id, types } }) => {
        const table = await routing.current(tenant_id);
        const taken = await Promise.all(types.map((type) => table.takes(type)));
        return types.filter((_, i) => taken[i]);
      }),
    },

    events: {
      "routing.changed"({ params }: { params: RoutingChanged }) {
        routing.changed(params.tenant_id, params.version, params.change);
      },
      "routing.lost"({ params }: { params: { tenant_id: string } }) {
        routing.forget(params.tenant_id);
      },
      // A node that crashed between a routing change and the new version left the change under the old one.
      "$node.disconnected"({ params }: { params: { unexpected: boolean } }) {
        if (params.unexpected) routing.forgetAll();
      },
      "tenants.erased"({ params }: { params: { tenant_id: string } }) {
        routing.forget(params.tenant_id);
      },
    },

    created() {
      broker = this.broker as ServiceBroker;
      routing = new Routing({ interests, broker });
      const { MAX_INTERESTS_PER_AGENT: perAgent, MAX_INTERESTS_PER_TENANT: perTenant } = config;
      limits = new InterestLimits({ interests, routing, perAgent, perTenant });
    },
  };
}
