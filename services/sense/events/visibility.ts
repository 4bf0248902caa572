import type { ServiceBroker } from "moleculer";
import { type Caller, callerId, hasScope, isAdmin } from "../../../lib/access/caller.ts";
import { lacksScope } from "../../../lib/contract/faults.ts";
import type { EventDoc } from "./events.model.ts";

/** Which events a caller may see; without conditions all of the tenant's. */
interface Visibility {
  /** Only this publisher's. */
  publisher_id?: string;
  filter?: (rows: EventDoc[]) => Promise<EventDoc[]>;
}

/** A sender sees what it published, a receiver what it was given. @throws Fault insufficient_scope */
export function visibilityFor(broker: ServiceBroker, caller: Caller): Visibility {
  if (isAdmin(caller)) return {};
  const me = callerId(caller);
  const receives = caller.kind === "agent" && hasScope(caller, "receive");
  const sends = hasScope(caller, "send");
  if (!receives && !sends) {
    throw lacksScope("send", "This operation needs the scope send or receive: use a key that has one.");
  }
  if (!receives) return { publisher_id: me };
  return {
    async filter(rows) {
      const isOwn = (row: EventDoc) => sends && row.publisher_id === me;
      const event_ids = rows.filter((row) => !isOwn(row)).map((row) => row._id);
      const params = { tenant_id: caller.tenant_id, agent_id: me, event_ids };
      const delivered = new Set(
        event_ids.length ? await broker.call<string[], unknown>("deliveries.given_to", params) : [],
      );
      return rows.filter((row) => isOwn(row) || delivered.has(row._id));
    },
  };
}

export async function maySee(broker: ServiceBroker, caller: Caller, row: EventDoc): Promise<boolean> {
  const { publisher_id, filter } = visibilityFor(broker, caller);
  if (filter) return (await filter([row])).length === 1;
  return publisher_id === undefined || row.publisher_id === publisher_id;
}
