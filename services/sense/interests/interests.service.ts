import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { OfTenant } from "../../../lib/access/caller.ts";
import type { Owned } from "../../../lib/access/visibility.ts";
import { audienceIn, isIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { RoutingRaised, RoutingUncounted } from "../../identity/tenants/routing-change.ts";
import { action, event, idempotent, type Runtime } from "../../runtime.ts";
import { adviseOn, type Subscribing } from "./advice.ts";
import { explainReception, findLacking, type Query } from "./explain.ts";
import { InterestLimits } from "./interest-limits.ts";
import * as contract from "./interests.contract.ts";
import { InterestModel, WaitModel } from "./interests.model.ts";
import { Interests } from "./interests.ts";
import { type MatchAgentParams, matchAgent } from "./match-agent.ts";
import type { ListenersParams, Match, Matches, MatchLimits, Receiver, Subscription } from "./receiver.ts";
import { Routing } from "./routing.ts";
import type { RoutingTable } from "./routing-table.ts";
import { type NewWait, readersIn, Waits } from "./waits.ts";

/** Agents' interests, and the matching of events with them and with channels' feeds. */
export function interestsService({ store, config }: Runtime): ServiceSchema {
  const collection = store.collection(InterestModel);
  let broker: ServiceBroker;
  let routing: Routing;
  let limits: InterestLimits;
  let interests: Interests;
  let waits: Waits;
  const notifying = new SharedLoop("awaited events", () => waits.notify(), NOTIFY_MS);
  /** Not awaited: an interest that is not noted now is noted by the next match after its table is read again. */
  const noteMatched = (tenant_id: string, ids: string[]) => {
    if (ids.length === 0) return;
    collection
      .updateMany(tenant_id, { _id: { $in: ids } }, { $unset: { unmatched_since: 1 } })
      .catch((err) => broker.logger.warn({ err }, "interests: the first match of some was not noted"));
  };
  return {
    name: "interests",
    mixins: [notifying.mixin],
    actions: {
      create: action(contract.createInterest, (ctx) => interests.create(ctx)),
      update: action(contract.updateInterest, (ctx) => interests.update(ctx)),
      list: action(contract.listInterests, (ctx) => interests.list(ctx)),
      get: action(contract.getInterest, (ctx) => interests.get(ctx)),
      delete: action(contract.deleteInterest, (ctx) => interests.delete(ctx)),
      test: action(contract.testInterest, (ctx) => interests.test(ctx)),

      /** Returns warnings of a new feed. Throws a fault if its filter is refused or the tenant has no capacity for it. */
      admit_feed: idempotent<Subscribing>(async (ctx) => {
        await limits.requireForTenant(ctx.params.tenant_id);
        return adviseOn(ctx, ctx.params);
      }),
      explain: idempotent<Query>((ctx) =>
        explainReception({ interests: collection, routing }, ctx, ctx.params),
      ),
      /** Returns why some agents are likely to receive nothing, by agent. */
      lacking: idempotent<{ tenant_id: string; agent_ids: string[]; before: number }>((ctx) =>
        findLacking(collection, ctx, ctx.params),
      ),
      any: idempotent<{ tenant_id: string }>(({ params }) => collection.exists(params.tenant_id, {})),
      match: idempotent<MatchParams>(async ({ params }) => {
        const table = await routing.current(params.tenant_id);
        // It may catch up meanwhile.
        const { version } = table;
        const matches = await matchEvents(broker, table, params);
        noteMatched(params.tenant_id, table.takeMatched());
        return { matches, version } satisfies Matches;
      }),
      /** Returns which past events one agent receives, for a replay of history. */
      match_agent: idempotent<MatchAgentParams>(async (ctx) => {
        const { matched, ...found } = await matchAgent(collection, ctx, ctx.params);
        noteMatched(ctx.params.tenant_id, matched);
        return found;
      }),

      /** Returns the agents that listen to a type, and how many listen to each of some types. */
      listeners: idempotent<ListenersParams>(async ({ params: { tenant_id, type } }) =>
        (await routing.current(tenant_id)).listenersTo(type, contract.MAX_LISTENERS),
      ),
      count_listeners: idempotent<{ tenant_id: string; types: string[] }>(async ({ params }) => {
        const table = await routing.current(params.tenant_id);
        const counts: number[] = [];
        for (const type of params.types)
          counts.push((await table.listenersTo(type, contract.MAX_LISTENERS)).length);
        return counts;
      }),

      taken: idempotent<{ tenant_id: string; types: string[] }>(async ({ params: { tenant_id, types } }) => {
        const table = await routing.current(tenant_id);
        const taken = await Promise.all(types.map((type) => table.takes(type)));
        return types.filter((_, i) => taken[i]);
      }),

      /** Waits of other domains for one event each. */
      begin_waits: idempotent<OfTenant & { waits: NewWait[] }>(({ params: { tenant_id, waits: begun } }) =>
        waits.begin(
          tenant_id,
          begun.map((each) => ({ ...each, since: new Date(each.since) })),
        ),
      ),
      end_waits: idempotent<EndParams>(({ params: { tenant_id, owner_id, version, keep } }) =>
        waits.end(tenant_id, owner_id, version, keep),
      ),
      record_awaited: idempotent<OfTenant & { events: Recorded }>(
        async ({ params: { tenant_id, events } }) => {
          await waits.record(tenant_id, events);
          notifying.nudge();
        },
      ),
    },

    events: {
      "routing.raised": event<RoutingRaised>((raised) => routing.raised(raised)),
      "routing.uncounted": event<RoutingUncounted>((of) => routing.uncounted(of)),
      "$node.disconnected": event<{ unexpected: boolean }>(({ unexpected }) => {
        if (unexpected) routing.nodeFailed();
      }),
      "tenants.erased": event<{ tenant_id: string }>(({ tenant_id }) => routing.forget(tenant_id)),
    },

    created() {
      broker = this.broker as ServiceBroker;
      routing = new Routing({ interests: collection, waits: store.collection(WaitModel), broker });
      limits = new InterestLimits({ interests: collection, routing, config });
      waits = new Waits({ store, broker, limits });
      interests = new Interests({ interests: collection, store, limits, routing });
    },
  };
}

type EndParams = OfTenant & { owner_id: string; version: number; keep: string[] };
type Recorded = Parameters<Waits["record"]>[1];

/** For events whose recording node failed before it passed them on. */
const NOTIFY_MS = 1000;

interface MatchParams extends MatchLimits {
  tenant_id: string;
  /** `at`: when it was accepted, in ms since 1970; without it the event ends no wait. */
  events: { event_id: string; envelope: CloudEvent; at?: number }[];
}

/** How long matching may block the event loop. */
const SLICE_MS = 3;

async function matchEvents(
  broker: ServiceBroker,
  table: RoutingTable,
  { tenant_id, events, max_receivers = Number.POSITIVE_INFINITY, max_ms }: MatchParams,
): Promise<Match[]> {
  const matches: Match[] = [];
  let total = 0;
  const slices = new Slices(SLICE_MS);
  for (const { event_id, envelope, at } of events) {
    const known = table.ofType(envelope.type);
    const matched = known ? { receivers: known, waits: [] } : await table.match(envelope, max_ms);
    if (!matched) break;
    const audience = audienceIn(envelope);
    const receivers = audience
      ? await keepAudience(broker, tenant_id, audience, matched.receivers)
      : matched.receivers;
    const begun = at === undefined ? [] : matched.waits.filter(({ begun_at = 0 }) => begun_at <= at);
    const waits = begun.length ? await selectWaits(broker, tenant_id, audience, begun) : [];
    matches.push({ event_id, receivers, ...(waits.length && { waits }) });
    total += receivers.length;
    if (total >= max_receivers) break;
    if (slices.over) await slices.next();
    if (max_ms !== undefined && slices.spent > max_ms) break;
  }
  return matches;
}

async function keepAudience(
  broker: ServiceBroker,
  tenant_id: string,
  audience: Set<string>,
  receivers: Receiver[],
): Promise<Receiver[]> {
  if (receivers.length === 0) return receivers;
  const agent_ids = receivers.map(({ agent_id }) => agent_id);
  const agents = await broker.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids });
  const members = new Set(agents.filter((agent) => isIn(audience, agent)).map(({ id }) => id));
  return receivers.filter(({ agent_id }) => members.has(agent_id));
}

/** Returns the ids of those waits whose readers are in an event's audience. */
async function selectWaits(
  broker: ServiceBroker,
  tenant_id: string,
  audience: Set<string> | null,
  waits: Subscription[],
): Promise<string[]> {
  const readers = waits.map(({ reader_id = "" }) => reader_id);
  const allowed = audience && (await readersIn(broker, tenant_id, audience, readers));
  return waits.filter(({ reader_id = "" }) => allowed?.has(reader_id) ?? true).map(({ id }) => id);
}
