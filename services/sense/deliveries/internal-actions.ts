import type { ActionSchema } from "moleculer";
import { hasScope } from "../../../lib/access/caller.ts";
import { metrics } from "../../../observability/metrics.ts";
import { tallyOf } from "../../../observability/tally.ts";
import { idempotent, internal, local } from "../../runtime.ts";
import { insertUnmappable, type Unmappable } from "./dead-letters.ts";
import { ofEvent } from "./delivery-id.ts";
import { enqueue, type NewDelivery, prepare } from "./enqueue.ts";
import { countsOf, givenTo, type OfEvent, receiversOf } from "./of-event.ts";
import type { Parts } from "./parts.ts";
import { withTimeout } from "./receiver-actions.ts";
import { acknowledge, giveBack, giveUp, release } from "./settle.ts";

interface OfAgent {
  tenant_id: string;
  agent_id: string;
}

/** A stream's or push worker's request: deliveries to pass on, under its own lease. */
interface Wanted extends OfAgent {
  limit: number;
  wait_ms: number;
  lease: string;
  lease_seconds?: number;
  max_in_flight?: number;
}

/** Outcomes of pushes. */
interface Outcomes extends OfAgent {
  acknowledged: string[];
  failed: { id: string; delay_seconds: number; reason: string }[];
}

const CLAIM_TIMEOUT_MS = 60_000;

/** Actions of streams and push workers on one agent's deliveries. */
export function queueActions(parts: () => Parts): Record<string, ActionSchema> {
  return {
    /** Claims deliveries to pass on: the caller settles each, or releases it by its lease. */
    claim: withTimeout(
      CLAIM_TIMEOUT_MS,
      internal<Wanted>(({ params, meta }) =>
        parts().receivers.receive({
          ...params,
          cancel_key: params.lease,
          // A push worker has no token: it sends to the agent's own endpoint.
          reads_memories: !meta.caller || hasScope(meta.caller, "memory:read"),
        }),
      ),
    ),

    /** Releases deliveries that a lease still holds, without counting an attempt. */
    release: internal<OfAgent & { lease: string; delivery_ids: string[] }>(async ({ params }) => {
      const { deliveries, now, announceReady } = parts();
      const released = await release(deliveries, { ...params, at: now() });
      if (released) announceReady([{ tenant_id: params.tenant_id, agent_id: params.agent_id }]);
      return { released };
    }),

    /** Records the outcomes of pushes. */
    settle: internal<Outcomes>(async ({ params: { tenant_id, agent_id, acknowledged, failed } }) => {
      const { deliveries, agents, loops, now, retireAt } = parts();
      const at = now();
      const failures = new Map(failed.map((each) => [each.id, each]));
      if (acknowledged.length) {
        await acknowledge(deliveries, { tenant_id, agent_id, delivery_ids: acknowledged, at }, retireAt(at));
      }
      if (failures.size === 0) return;
      const { retry_budget } = await agents.get(tenant_id, agent_id);
      const { dead_lettered } = await giveBack(deliveries, {
        ...{ tenant_id, agent_id, delivery_ids: [...failures.keys()], at, retry_budget },
        delay: (_, id) => failures.get(id)?.delay_seconds as number,
        reason: (id) => failures.get(id)?.reason,
      });
      if (dead_lettered) loops.announcements.nudge();
    }),

    /** Dead-letters ready deliveries created before a time, in ms: no receiver can be reached. */
    give_up: internal<OfAgent & { before: number; reason: string }>(async ({ params }) => {
      const { deliveries, loops, now } = parts();
      const dead_lettered = await giveUp(deliveries, {
        ...params,
        before: new Date(params.before),
        at: now(),
      });
      if (dead_lettered) loops.announcements.nudge();
      return { dead_lettered };
    }),
  };
}

/** Actions of other services on deliveries. */
export function internalActions(parts: () => Parts): Record<string, ActionSchema> {
  return {
    /** Idempotent: fan-out may repeat it. */
    enqueue: idempotent<{ deliveries: NewDelivery[] }>(async ({ params }) => {
      const { deliveries, receivers, now, announceReady } = parts();
      const { enqueued, known, ready } = await enqueue(deliveries, params.deliveries, now(), receivers);
      metrics.deliveriesEnqueued.inc(enqueued);
      announceReady(ready);
      return { enqueued, known };
    }),

    /** Prepares rows to be written together with their events; notifies receivers afterwards. */
    prepare: local<{ deliveries: NewDelivery[] }>(async ({ params }) => {
      const { deliveries, receivers, now, announceReady } = parts();
      const { docs, written } = await prepare(params.deliveries, now(), receivers);
      return {
        collection: deliveries,
        docs,
        written(isWritten: (index: number) => boolean) {
          const { enqueued, ready } = written(isWritten);
          metrics.deliveriesEnqueued.inc(enqueued);
          announceReady(ready);
        },
      };
    }),

    /** Returns this node's recent work for a tenant (observability/tally.ts). */
    tally: internal<{ tenant_id: string }>(({ params }) => tallyOf(params.tenant_id)),

    /** Keeps a payload that a connector could not map, as a dead letter without an agent. */
    dead_letter: internal<Unmappable>(async ({ params }) => {
      const { deliveries, loops, now, unmappedUntil } = parts();
      const at = now();
      const id = await insertUnmappable(deliveries, params, at, unmappedUntil(at));
      loops.announcements.nudge();
      return { id };
    }),

    /** Whether the tenant acknowledged any delivery. */
    any_acknowledged: idempotent<{ tenant_id: string }>(({ params }) =>
      parts().deliveries.exists(params.tenant_id, { state: "acknowledged" }),
    ),

    counts: idempotent<OfEvent>(({ params }) => countsOf(parts().deliveries, params)),

    of_event: idempotent<OfEvent & { limit?: number }>(({ params }) =>
      receiversOf(parts().deliveries, params, params.limit ?? 1000),
    ),

    given_to: internal<OfAgent & { event_ids: string[] }>(({ params }) =>
      givenTo(parts().deliveries, params),
    ),

    /** Deletes the deliveries, tombstones and dead letters of deleted events. */
    forget_events: internal<{ tenant_id: string; event_ids: string[] }>(
      async ({ params: { tenant_id, event_ids } }) => {
        const deletions = event_ids.map((id) => ({ deleteMany: { filter: { ...ofEvent(id), tenant_id } } }));
        return { forgotten: (await parts().deliveries.bulk(deletions)).deletedCount };
      },
    ),
  };
}
