import type { ServiceBroker } from "moleculer";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { Belonging } from "../../../storage/collection.ts";
import type { Store } from "../../../storage/connection.ts";
import { deliveryTo, type Receiver } from "../interests/receiver.ts";
import type { EventDoc } from "./events.model.ts";
import type { FanOut } from "./fan-out.ts";

/** An event and its row before insertion. */
export interface Publication {
  event: CloudEvent;
  row: EventDoc;
}

/** The result of matching events in the commit that accepts them. */
interface AtOnce {
  /** Receivers of each of the first events; later events are left to fan-out. */
  counts: number[];
  /** Their deliveries. */
  belonging: Belonging | null;
  /** Reports which events were written, by position. */
  written(isWritten: (index: number) => boolean): void;
}

/** Result of `deliveries.prepare`. */
interface Prepared extends Omit<Belonging, "of"> {
  written(isWritten: (index: number) => boolean): void;
}

const NONE: AtOnce = { counts: [], belonging: null, written: () => undefined };

/**
 * Matches events of one tenant that are about to be written, as far as this needs no waiting and overtakes no earlier
 * events (docs/decisions/0033-matched-when-accepted.md).
 */
export async function matchAtOnce(
  { store, broker, fanOut }: { store: Store; broker: ServiceBroker; fanOut: FanOut },
  publications: Publication[],
): Promise<AtOnce> {
  const { tenant_id } = (publications[0] as Publication).row;
  if (!store.commitsTogether || !fanOut.isClear(tenant_id)) return NONE;
  try {
    const events = publications.map(({ event }) => event);
    const matches: Receiver[][] = await broker.call("interests.match_at_once", { tenant_id, events });
    const counts = matches.map((receivers) => receivers.length);
    const deliveries: ReturnType<typeof deliveryTo>[] = [];
    const of: number[] = [];
    for (const [i, receivers] of matches.entries()) {
      const { _id, size } = (publications[i] as Publication).row;
      for (const receiver of receivers) {
        deliveries.push(deliveryTo(receiver, tenant_id, _id, size));
        of.push(i);
      }
    }
    if (of.length === 0) return { ...NONE, counts };
    const { written, ...rows }: Prepared = await broker.call("deliveries.prepare", { deliveries });
    return {
      counts,
      belonging: { ...rows, of },
      written: (isWritten) => written((place) => isWritten(of[place] as number)),
    };
  } catch (err) {
    broker.logger.debug({ err }, "events are left to fan-out");
    return NONE;
  }
}
