import type { ServiceBroker, ServiceSchema } from "moleculer";
import type { RoutingRaised, RoutingUncounted } from "../../identity/tenants/routing-change.ts";
import { action, event, idempotent, type Runtime } from "../../runtime.ts";
import * as contract from "./interests.contract.ts";
import { InterestModel } from "./interests.model.ts";
import { Interests } from "./interests.ts";
import { InterestLimits } from "./limits.ts";
import { type MatchParams, matchEvents, selectTaken } from "./match.ts";
import { Routing } from "./routing.ts";

/** Agents' interests, and the matching of events with them and with channels' feeds. */
export function interestsService({ store, config }: Runtime): ServiceSchema {
  const collection = store.collection(InterestModel);
  let broker: ServiceBroker;
  let routing: Routing;
  let limits: InterestLimits;
  let interests: Interests;
  return {
    name: "interests",
    actions: {
      create: action(contract.createInterest, (ctx) => interests.create(ctx)),
      update: action(contract.updateInterest, (ctx) => interests.update(ctx)),
      list: action(contract.listInterests, (ctx) => interests.list(ctx)),
      get: action(contract.getInterest, (ctx) => interests.get(ctx)),
      delete: action(contract.deleteInterest, (ctx) => interests.delete(ctx)),
      test: action(contract.testInterest, (ctx) => interests.test(ctx)),

      /** Throws the fault `business_rule_violation` if the tenant has no capacity for another feed. */
      require_capacity: idempotent<{ tenant_id: string }>(({ params }) =>
        limits.requireForTenant(params.tenant_id),
      ),
      any: idempotent<{ tenant_id: string }>(({ params }) => collection.exists(params.tenant_id, {})),
      match: idempotent<MatchParams>(async ({ params }) =>
        matchEvents(broker, await routing.current(params.tenant_id), params),
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
