import type { TenantCollection } from "../../../storage/collection.ts";
import type { Write } from "../../../storage/query.ts";
import { noteChange } from "../../platform/usage/tally.ts";
import type { EventDoc } from "./events.model.ts";
import type { Entry } from "./fan-out-queue.ts";
import { listKey } from "./position.ts";

/** A fanned-out event whose row is not updated yet. */
interface Stamp {
  entry: Entry;
  matched: number;
  at: Date;
}

// No receiver depends on a stamp: it waits briefly to share a commit instead of delaying one.
const DELAY_MS = 40;
const MAX_WAITING = 1_000;

const CLEARED = { fanout_key: 1, fanout_owner: 1, fanout_attempts: 1 } as const;

/** Records which events are fanned out, by whichever lease. Without its stamp an event is fanned out again: no change. */
export class FanOutStamps {
  readonly #events: TenantCollection<EventDoc>;
  readonly #onDone: (entries: Entry[], err?: unknown) => void;
  #waiting: Stamp[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  /** Calls `onDone` when the stamps of entries are durable or could not be written. */
  constructor(events: TenantCollection<EventDoc>, onDone: (entries: Entry[], err?: unknown) => void) {
    this.#events = events;
    this.#onDone = onDone;
  }

  add(stamps: Stamp[]): void {
    this.#waiting.push(...stamps);
    if (this.#waiting.length >= MAX_WAITING) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), DELAY_MS);
  }

  /** Resolves when all stamps added so far are written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const stamps = this.#waiting;
    if (stamps.length) {
      this.#waiting = [];
      this.#writing = this.#writing.then(() => this.#write(stamps));
    }
    return this.#writing;
  }

  async #write(stamps: Stamp[]): Promise<void> {
    const entries = stamps.map(({ entry }) => entry);
    try {
      const matched = stamps.filter((stamp) => stamp.matched > 0);
      const unmatched = stamps.filter((stamp) => stamp.matched === 0);
      await this.#events.bulk([...toGroupedWrites(matched), ...unmatched.map(toUnmatchedWrite)]);
      for (const tenant_id of new Set(entries.map((entry) => entry.tenant_id))) noteChange(tenant_id);
      this.#onDone(entries);
    } catch (err) {
      this.#onDone(entries, err);
    }
  }
}

/**
 * Most events of a moment have the same number of receivers: they share one write and the latest time, as no event may
 * be fanned out before it was accepted.
 */
function toGroupedWrites(stamps: Stamp[]): Write<EventDoc>[] {
  const groups = Map.groupBy(stamps, ({ entry, matched }) => `${entry.tenant_id} ${matched}`);
  return [...groups.values()].map((group) => {
    const { entry, matched, at } = group.at(-1) as Stamp;
    const filter = { _id: { $in: group.map((each) => each.entry.event_id) }, tenant_id: entry.tenant_id };
    const update = { $set: { fanned_out_at: at, matched_count: matched }, $unset: CLEARED };
    return { updateMany: { filter, update } };
  });
}

function toUnmatchedWrite({ entry, at }: Stamp): Write<EventDoc> {
  const $set = { fanned_out_at: at, matched_count: 0, unmatched_key: listKey(entry) };
  const filter = { _id: entry.event_id, tenant_id: entry.tenant_id };
  return { updateOne: { filter, update: { $set, $unset: CLEARED } } };
}
