import { type Call, callerId, isAdmin } from "../../../lib/access/caller.ts";
import type { CloudEvent } from "../../../lib/cloudevents/cloudevents.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { conflict, notFound } from "../../../lib/contract/faults.ts";
import { Due } from "../../../mixins/due.ts";
import type { More } from "../../../mixins/loop.ts";
import type * as contract from "./events.contract.ts";
import type { EventDeps, EventDoc } from "./events.model.ts";
import { fanoutKey, listKey } from "./position.ts";

interface WaitingDeps extends EventDeps {
  onReleased(): void;
}

/** Events released by one write. */
const BATCH = 500;

/** Events with a `notbefore` to come: durable, but not due for fan-out (docs/decisions/0054-delayed-publish.md). */
export class WaitingEvents {
  readonly #deps: WaitingDeps;
  readonly #due: Due<EventDoc>;

  constructor(deps: WaitingDeps) {
    const { events: rows, store } = deps;
    this.#deps = deps;
    const asking = { by: "due_at", batch: BATCH, projection: { due_at: 1 } } as const;
    this.#due = new Due({ rows, now: () => store.past(), ...asking });
  }

  /** Makes the events whose time has come due for fan-out. Returns when the next one is due, if any waits. */
  async release(): Promise<More> {
    const { events, store, onReleased } = this.#deps;
    const more = await this.#due.work(async (tenant_id, rows) => {
      const waiting = { _id: { $in: rows.map(({ _id }) => _id) }, due_at: { $exists: true } };
      const $set = { fanout_key: fanoutKey(tenant_id, store.now()) };
      await events.updateMany(tenant_id, waiting, { $set, $unset: { due_at: 1, waiting_key: 1 } });
      onReleased();
    });
    return more || this.#due.untilNext();
  }

  /** Deletes an event that still waits: its publisher's own, for admins any. */
  async cancel({ params: { event_id }, meta: { caller } }: Call<ParamsOf<typeof contract.cancelEvent>>) {
    const { events } = this.#deps;
    const { tenant_id } = caller;
    const own = { _id: event_id, ...(!isAdmin(caller) && { publisher_id: callerId(caller) }) };
    if (await events.deleteMany(tenant_id, { ...own, due_at: { $exists: true } })) return;
    const row = await events.findOne(tenant_id, own, { projection: { _id: 1 } });
    if (!row) throw notFound("event", event_id);
    const message = "The event is not waiting: only one that waits for its notbefore can be cancelled.";
    throw conflict(message, { existing_resource_id: event_id });
  }
}

/** Has an event wait if its `notbefore` is later than its acceptance. */
export function delay(row: EventDoc, { notbefore }: CloudEvent): void {
  const due = notbefore === undefined ? Number.NaN : Date.parse(notbefore as string);
  // Not true of NaN.
  if (!(due > row.accepted_at.getTime())) return;
  row.not_before = new Date(due);
  row.due_at = new Date(due);
  row.waiting_key = listKey(row);
}
