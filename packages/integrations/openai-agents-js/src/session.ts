import type { AgentInputItem, Session } from "@openai/agents-core";
import { type Client, isApiError, type StateEntry } from "sensorium";
import { fromText, toText } from "./items.ts";

export interface SessionOptions {
  /** Default: a new one. */
  sessionId?: string;
  /** The person that the conversation is with, for erasure. */
  subject?: string;
  /** The event that a run handles, kept with the items that it adds. */
  eventId?: string;
}

/** Sessions of the SDK for JavaScript: that for Python has items of another form. */
const SESSIONS = "openai-agents.js";
const FORMAT = "openai-agents-js/1";
// biome-ignore lint/suspicious/noControlCharactersInRegex: no label may have them
const ODD = /[%./\x00-\x1f\x7f]/g;
const DIGITS = 12;
/** How many entries are searched for those of an event. */
const LATEST = 20;

/**
 * A conversation in the state of the agent whose client it has, for `run(agent, input, { session })`. Each call adds
 * one entry, under the next number: processes that use the same session lose no item and agree on the order.
 */
export class SensoriumSession implements Session {
  readonly #client: Client;
  readonly #sessionId: string;
  readonly #namespace: string;
  readonly #metadata: Record<string, unknown>;

  constructor(client: Client, { sessionId = crypto.randomUUID(), subject, eventId }: SessionOptions = {}) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#namespace = `${SESSIONS}.${sessionId.replace(ODD, percentEncoded)}`;
    if (!sessionId || [...this.#namespace].length > 500)
      throw new RangeError(
        `sessionId: expected 1 to ${499 - SESSIONS.length} characters; each of . / % counts as three.`,
      );
    this.#metadata = {
      format: FORMAT,
      ...(subject !== undefined && { subject }),
      ...(eventId !== undefined && { event_id: eventId }),
    };
  }

  /** Whether the latest entries have one with the items of this session's event. */
  async hasEvent(): Promise<boolean> {
    const { event_id } = this.#metadata;
    const page = await this.#client.state.list({ namespace: this.#namespace, order: "desc", limit: LATEST });
    return event_id !== undefined && page.entries.some(({ metadata }) => metadata.event_id === event_id);
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId;
  }

  /** The items in order. @param limit only so many, the latest */
  async getItems(limit = Number.POSITIVE_INFINITY): Promise<AgentInputItem[]> {
    if (limit <= 0) return [];
    const parts: AgentInputItem[][] = [];
    let left = limit;
    for await (const entry of this.#backwards()) {
      const items = await this.#itemsOf(entry);
      parts.push(items.slice(-left));
      left -= items.length;
      if (left <= 0) break;
    }
    return parts.reverse().flat();
  }

  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return;
    const value = toText(items);
    // Read each time: another process may have added entries, or cleared them and begun again.
    while (!(await this.#save((await this.#lastNumber()) + 1, value, 0)));
  }

  /** Removes the last item. Its entry stays, without it, so that no number is used twice. */
  async popItem(): Promise<AgentInputItem | undefined> {
    for await (const entry of this.#backwards()) {
      const items = await this.#itemsOf(entry);
      const item = items.pop();
      if (!item) continue;
      if (await this.#save(Number(entry.key), toText(items), entry.version)) return item;
      // Another process changed it first.
      return this.popItem();
    }
    return undefined;
  }

  async clearSession(): Promise<void> {
    await this.#client.state.clear({ namespace: this.#namespace });
  }

  /** Saves an entry that has this version; 0: it does not exist. Returns whether it had. */
  async #save(number: number, value: string, if_version: number): Promise<boolean> {
    const key = String(number).padStart(DIGITS, "0");
    const entry = { namespace: this.#namespace, key, value, metadata: this.#metadata, if_version };
    try {
      await this.#client.state.put(entry);
    } catch (error) {
      if (isApiError(error, "conflict")) return false;
      throw error;
    }
    return true;
  }

  async #lastNumber(): Promise<number> {
    const page = await this.#client.state.list({ namespace: this.#namespace, order: "desc", limit: 1 });
    return Number(page.entries[0]?.key ?? 0);
  }

  async *#backwards(): AsyncGenerator<StateEntry> {
    for (let before: string | null | undefined; before !== null; ) {
      const bound = before && { before };
      const page = await this.#client.state.list({ namespace: this.#namespace, order: "desc", ...bound });
      yield* page.entries;
      before = page.next;
    }
  }

  /** @throws Error if another kind of program wrote the entry */
  async #itemsOf({ namespace, key, metadata, value }: StateEntry): Promise<AgentInputItem[]> {
    if (metadata.format !== FORMAT)
      throw new Error(
        `The state ${namespace}/${key} has the format ${metadata.format}, expected ${FORMAT}: another program wrote it.`,
      );
    return fromText(value ?? (await this.#client.state.get({ namespace, key })).value ?? "[]");
  }
}

const percentEncoded = (found: string) =>
  `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
