import type { RootCall } from "../exchange.ts";

/** An event as `GET /events` lists it. */
export interface ListedEvent {
  event_id: string;
  accepted_at: string;
}

interface Page {
  events: ListedEvent[];
  next_cursor: string | null;
}

const PAGE = 200;
/** Of more events at a time only the latest are found: a page has 4 MB at most. */
const MOST_PAGES = 10;
/** An event may become visible after one accepted later, because of matching or another node's clock. */
const OVERLAP_MS = 10_000;

/** Finds what the caller's list of events gained since the last look, each event once. */
export class NewEvents {
  readonly #ctx: Pick<RootCall, "call">;
  readonly #wanted: { type?: string; limit: number };
  readonly #seen = new Map<string, string>();
  /** Begins with the events of this time, by the service's clock. */
  readonly #from: string | undefined;
  #latest = "";
  /** Whether everything from the given time on is still to be found. */
  #isFirst: boolean;

  constructor(ctx: Pick<RootCall, "call">, { type, since }: { type?: string; since?: string }) {
    this.#ctx = ctx;
    this.#wanted = { ...(type !== undefined && { type }), limit: PAGE };
    this.#from = since === undefined ? undefined : new Date(since).toISOString();
    this.#isFirst = since !== undefined;
  }

  /** Takes note of what is there; of what came at `since` or later only if it was not given. Returns the time after. */
  async start(): Promise<string> {
    const { events } = await this.#page({});
    this.#latest = events[0]?.accepted_at ?? "";
    if (this.#from === undefined) for (const event of events) this.#note(event);
    return this.#latest ? new Date(Date.parse(this.#latest) + 1).toISOString() : new Date().toISOString();
  }

  /** Returns the new events, oldest first. */
  async next(): Promise<ListedEvent[]> {
    const overlap = before(this.#latest) ?? "";
    const since = this.#isFirst || overlap < (this.#from ?? "") ? this.#from : overlap;
    const found = await this.#list(since);
    this.#isFirst = false;
    const fresh = found.filter(({ event_id }) => !this.#seen.has(event_id)).reverse();
    for (const event of found) this.#note(event);
    this.#latest = found[0]?.accepted_at ?? this.#latest;
    const oldest = before(this.#latest) ?? "";
    for (const [id, at] of this.#seen) if (at < oldest) this.#seen.delete(id);
    return fresh;
  }

  async #list(since: string | undefined): Promise<ListedEvent[]> {
    const found: ListedEvent[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await this.#page({ ...(since && { since }), ...(cursor && { cursor }) });
      found.push(...page.events);
      // All new ones, and one page of those that may have become visible late.
      const isOlder = (page.events.at(-1)?.accepted_at ?? "") < this.#latest;
      if (page.next_cursor === null || (!this.#isFirst && isOlder && found.length >= PAGE)) return found;
      cursor = page.next_cursor;
    }
    return found;
  }

  #page(more: { since?: string; cursor?: string }): Promise<Page> {
    return this.#ctx.call<Page>("events.list", { ...this.#wanted, ...more });
  }

  #note({ event_id, accepted_at }: ListedEvent): void {
    this.#seen.set(event_id, accepted_at);
  }
}

function before(time: string): string | undefined {
  return time ? new Date(Date.parse(time) - OVERLAP_MS).toISOString() : undefined;
}
