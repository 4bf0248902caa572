import type { ServiceBroker } from "moleculer";
import type { CommitDeliveries, PreparedDeliveries } from "../deliveries/enqueue.ts";
import { type CommitMatching, deliveryTo } from "../interests/receiver.ts";
import type { Publication } from "./events.model.ts";

/** The result of matching events before the commit that accepts them. */
interface CommitMatch {
  /** Number of receivers of each of the first events; later events are left to fan-out. */
  counts: number[];
  /** Their deliveries, to be written with them and then confirmed, with the index of each one's event. */
  deliveries: (PreparedDeliveries & { of: number[] }) | null;
}

export const UNMATCHED: CommitMatch = { counts: [], deliveries: null };

/**
 * Matches events of one tenant that are about to be written, as far as look-ups suffice, and prepares their deliveries
 * (docs/decisions/0033-matched-when-accepted.md). Only services of this node are asked: rows and waiting requests do not
 * travel.
 */
export async function matchBeforeCommit(
  broker: ServiceBroker,
  publications: Publication[],
): Promise<CommitMatch> {
  const { tenant_id } = (publications[0] as Publication).row;
  const interests = localService<CommitMatching>(broker, "interests");
  const deliveries = localService<CommitDeliveries>(broker, "deliveries");
  if (!interests || !deliveries) return UNMATCHED;
  try {
    const events = publications.map(({ event }) => event);
    const matches = await interests.matchByLookup(tenant_id, events);
    const counts = matches.map((receivers) => receivers.length);
    const requests: ReturnType<typeof deliveryTo>[] = [];
    const of: number[] = [];
    for (const [i, receivers] of matches.entries()) {
      const { _id: event_id, type, size } = (publications[i] as Publication).row;
      for (const receiver of receivers) {
        requests.push(deliveryTo(receiver, { tenant_id, event_id, type, size }));
        of.push(i);
      }
    }
    if (of.length === 0) return { counts, deliveries: null };
    return { counts, deliveries: { ...(await deliveries.prepareDeliveries(requests)), of } };
  } catch (err) {
    broker.logger.debug({ err }, "matching at commit failed; fan-out matches these events");
    return UNMATCHED;
  }
}

/** Delivers the prepared deliveries whose events were written. Must follow every preparation. */
export function confirmCommit(
  broker: ServiceBroker,
  deliveries: PreparedDeliveries,
  event_ids: ReadonlySet<string>,
): void {
  localService<CommitDeliveries>(broker, "deliveries")?.confirmDeliveries(deliveries, event_ids);
}

/** Returns the methods of a service if it runs on this node. */
function localService<Methods>(broker: ServiceBroker, name: string): Methods | undefined {
  return broker.getLocalService(name) as Methods | undefined;
}
