import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { Owned } from "../../../lib/access/visibility.ts";
import { audienceIn, isIn } from "../../../lib/cloudevents/audience.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import { Slices } from "../../../lib/queue/slices.ts";
import type { RoutingRaised, RoutingUncounted } from "../../identity/tenants/routing-change.ts";
import { action, event, idempotent, type Runtime } from "../../runtime.ts";
import { adviseOn, type Subscribing } from "./advice.ts";
import { type Asked, explainReception, findLacking } from "./explain.ts";
import * as contract from "./interests.contract.ts";
import { InterestModel } from "./interests.model.ts";
import { Interests } from "./interests.ts";
import { InterestLimits } from "./limits.ts";
import { countListeners, type ListenersParams, listenersTo } from "./listeners.ts";
import { type MatchAgentParams, matchAgent } from "./match-agent.ts";
import type { Match, Receiver } from "./receiver.ts";
import { Routing } from "./routing.ts";
import type { RoutingTable } from "./routing-table.ts";

/** Agents' interests, and the matching of events with them and with channels' feeds. */
export function interestsService({ store, config }: Runtime): ServiceSchema {
  const collection = store.collection(InterestModel);
  let broker: ServiceBroker;
  let routing: Routing;
  let limits: InterestLimits;
  let interests: Interests;
  /** Not awaited: an interest that is not noted now is noted by the next match after its table is read again. */
  const noteMatched = (tenant_id: string, ids: string[]) => {
    if (ids.length === 0) return;
    collection
      .updateMany(tenant_id, { _id: { $in: ids } }, { $unset: { unmatched_since: 1 } })
      .catch((err) => broker.logger.warn({ err }, "interests: the first match of some was not noted"));
  };
  return {
    name: "interests",
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
      /** Explains which subscriptions of an agent match an event. */
      explain: idempotent<Asked>((ctx) =>
        explainReception({ interests: collection, routing }, ctx, ctx.params),
      ),
      /** Returns why some agents are likely to receive nothing, by agent. */
      lacking: idempotent<{ tenant_id: string; agent_ids: string[]; before: number }>((ctx) =>
        findLacking(collection, ctx, ctx.params),
      ),
      any: idempotent<{ tenant_id: string }>(({ params }) => collection.exists(params.tenant_id, {})),
      match: idempotent<MatchParams>(async ({ params }) => {
        const table = await routing.current(params.tenant_id);
        const matches = await matchEvents(broker, table, params);
        noteMatched(params.tenant_id, table.takeMatched());
        return matches;
      }),
      /** Returns which past events one agent receives, for a replay of history. */
      match_agent: idempotent<MatchAgentParams>(async (ctx) => {
        const { matched, ...found } = await matchAgent(collection, ctx, ctx.params);
        noteMatched(ctx.params.tenant_id, matched);
        return found;
      }),

      /** Returns the agents that listen to a type, and how many listen to each of some types. */
      listeners: idempotent<ListenersParams>(async ({ params }) =>
        listenersTo(await routing.current(params.tenant_id), params.type),
      ),
      count_listeners: idempotent<{ tenant_id: string; types: string[] }>(async ({ params }) =>
        countListeners(await routing.current(params.tenant_id), params.types),
      ),

      /** Returns the types that some interest or feed subscribes to. */
      taken: idempotent<{ tenant_id: string; types: string[] }>(async ({ params }) =>
        selectTaken(await routing.current(params.tenant_id), params.types),
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
      routing = new Routing(collection, broker);
      limits = new InterestLimits({ interests: collection, routing, config });
      interests = new Interests({ interests: collection, store, limits, routing });
    },
  };
}

interface MatchParams {
  tenant_id: string;
  events: { event_id: string; envelope: CloudEvent }[];
  /** Stop after the event that reaches this many receivers: the answer then holds fewer events than requested. */
  max_receivers?: number;
}

/** How long matching may block the event loop. */
const SLICE_MS = 3;

/** Returns the receivers of each event. */
async function matchEvents(
  broker: ServiceBroker,
  table: RoutingTable,
  { tenant_id, events, max_receivers = Number.POSITIVE_INFINITY }: MatchParams,
): Promise<Match[]> {
  const matches: Match[] = [];
  let total = 0;
  const slices = new Slices(SLICE_MS);
  for (const { event_id, envelope } of events) {
    const receivers = await keepAudience(broker, tenant_id, envelope, await table.match(envelope));
    matches.push({ event_id, receivers });
    total += receivers.length;
    if (total >= max_receivers) break;
    if (slices.over) await slices.next();
  }
  return matches;
}

/** Removes receivers outside an event's audience; most events have none. */
async function keepAudience(
  broker: ServiceBroker,
  tenant_id: string,
  event: CloudEvent,
  receivers: Receiver[],
): Promise<Receiver[]> {
  const audience = audienceIn(event);
  if (!audience || receivers.length === 0) return receivers;
  const agent_ids = receivers.map(({ agent_id }) => agent_id);
  const agents = await broker.call<Owned[], unknown>("agents.get_many", { tenant_id, agent_ids });
  const members = new Set(agents.filter((agent) => isIn(audience, agent)).map(({ id }) => id));
  return receivers.filter(({ agent_id }) => members.has(agent_id));
}

/** Returns the types that some subscription's glob matches. */
async function selectTaken(table: RoutingTable, types: string[]): Promise<string[]> {
  const taken = await Promise.all(types.map((type) => table.takes(type)));
  return types.filter((_, i) => taken[i]);
}
