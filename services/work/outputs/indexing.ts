import type { ServiceBroker } from "moleculer";
import { backOff } from "../../../lib/queue/backoff.ts";
import { splitPassages } from "../../../lib/text/passages.ts";
import { LEASE_MS, place, type Queue, type Queued as QueuedRow } from "../../../mixins/queue.ts";
import type { Where } from "../../../storage/query.ts";
import type { SearchDrop, SearchPut } from "../../../storage/search/entry.ts";
import type { SettleErased } from "../../erasers.ts";
import { type ChunkDoc, type OutputDoc, toChunk, toEntry } from "./outputs.model.ts";
import type { Outputs } from "./outputs.ts";

type Queued = QueuedRow<OutputDoc>;

/** Chunks per write, and per call to search: small, because each thread holds a page. */
const PAGE = 20;
/** Characters that are split into chunks at once: bounds the block of the event loop. */
const WINDOW = 65_536;
/** Characters of a text that are indexed: longer ones are found by their beginning. */
const MOST_SEARCHED = 4_194_304;
/** Texts up to this size can be found as soon as they are saved. */
const AT_ONCE = 131_072;

/**
 * Applies what follows from an output's row: its search entries, and which outputs it supersedes. Each step starts from
 * the row alone and may run twice; its last write checks the lease, so that a concurrent change restarts it.
 */
export class Indexing {
  readonly #outputs: Outputs;
  readonly #queue: Queue<OutputDoc>;
  readonly #broker: ServiceBroker;

  constructor(outputs: Outputs, queue: Queue<OutputDoc>, broker: ServiceBroker) {
    this.#outputs = outputs;
    this.#queue = queue;
    this.#broker = broker;
  }

  /** Processes one output; returns false if nothing is due. */
  async work(): Promise<boolean> {
    const claimed = await this.#queue.claim();
    if (claimed) await this.#hold(claimed);
    return claimed !== null;
  }

  /** Processes a row that was just written under a lease; long texts are left to the loop. */
  async settle(doc: OutputDoc): Promise<void> {
    if (doc.byte_size <= AT_ONCE) return this.#hold(doc as Queued);
    await this.#queue.release(doc as Queued, this.#outputs.now());
    this.#outputs.nudge();
  }

  /** Resolves when search has the outputs whose texts an erasure has replaced. @throws if it does not take one */
  async settleErased({ tenant_id, since }: SettleErased): Promise<void> {
    const { rows, now } = this.#outputs;
    const changed = { updated_at: { $gte: new Date(since) } };
    for await (const batch of rows.batches(tenant_id, changed, { projection: { _id: 1 } }))
      for (const { _id } of batch) {
        const $set = { queue: place(tenant_id, now() + LEASE_MS) };
        const leased = await rows.update(tenant_id, { _id }, { $set });
        if (leased) await this.#hold(leased as Queued);
        if (await rows.exists(tenant_id, { _id, queue: { $exists: true } }))
          throw new Error(`search does not have the output ${_id} yet`);
      }
  }

  #hold(row: Queued): Promise<void> {
    return this.#queue.hold(
      row,
      (held) => this.#follow(held),
      async (held, err) => {
        this.#broker.logger.warn({ err, output_id: held._id }, "outputs: the search index is updated later");
        const attempts = held.attempts + 1;
        await this.#queue.release(held, this.#outputs.now() + backOff(attempts) * 1000, { attempts });
      },
    );
  }

  async #follow(doc: Queued): Promise<void> {
    const { rows } = this.#outputs;
    const { tenant_id, _id } = doc;
    if (doc.deleted_at) return this.#remove(doc);
    await this.#leaveCircle(doc);
    for (const id of doc.supersedes_ids) {
      await this.#change(tenant_id, { _id: id, superseded_by: null }, { superseded_by: _id });
    }
    await this.#release(doc, doc.supersedes_ids);
    const done =
      (await this.#put(doc)) &&
      (await rows.update(
        tenant_id,
        { _id, queue: doc.queue },
        { $unset: { queue: 1 }, $set: { attempts: 0 } },
      ));
    // Changed meanwhile: perhaps a newer text was indexed before this one, and newer links were followed.
    if (!done)
      await rows.update(tenant_id, { _id }, { $set: { queue: place(tenant_id, this.#outputs.now()) } });
  }

  /** Indexes all of a text, and drops surplus chunks of an earlier version; returns false if the lease was lost. */
  async #put(doc: Queued): Promise<boolean> {
    const { rows, chunks, now } = this.#outputs;
    const { tenant_id, _id, version } = doc;
    const changed_at = new Date(now());
    let count = 0;
    for await (const texts of this.#pagesOf(doc)) {
      if (!(await rows.findOne(tenant_id, { _id, queue: doc.queue }))) return false;
      const made = texts.map((text) => toChunk(doc, text, count++, changed_at));
      await chunks.upsert(
        made.map(({ _id: id, tenant_id: _, output_id, ...$set }) => ({
          filter: { _id: id, tenant_id, output_id },
          update: { $set },
        })),
      );
      const put: SearchPut = { tenant_id, entries: made.map(toEntry) };
      await this.#broker.call("search.put", put);
    }
    await this.#drop(tenant_id, { output_id: _id, version: { $lt: version } });
    return true;
  }

  async *#pagesOf(doc: OutputDoc): AsyncGenerator<string[]> {
    const page: string[] = [];
    let paged = false;
    const stream = await this.#outputs.blobs.stream(doc.tenant_id, doc.hash);
    for await (const text of windows(stream)) {
      for (const [start, end] of splitPassages(text)) page.push(text.slice(start, end));
      for (; page.length >= PAGE; paged = true) yield page.splice(0, PAGE);
    }
    if (page.length) yield page;
    // An empty text is found by its title.
    else if (!paged) yield [""];
  }

  async #drop(tenant_id: string, filter: Where<ChunkDoc>): Promise<void> {
    for (;;) {
      const chunks = await this.#outputs.chunks.find(tenant_id, filter, {
        limit: PAGE,
        projection: { _id: 1 },
      });
      if (chunks.length === 0) return;
      const ids = chunks.map(({ _id }: Pick<ChunkDoc, "_id">) => _id);
      const drop: SearchDrop = { tenant_id, kind: "output", ids };
      await this.#broker.call("search.drop", drop);
      await this.#outputs.chunks.deleteMany(tenant_id, { _id: { $in: ids } });
    }
  }

  async #remove({ tenant_id, _id }: Queued): Promise<void> {
    const { rows, versions } = this.#outputs;
    await this.#drop(tenant_id, { output_id: _id });
    await versions.deleteMany(tenant_id, { output_id: _id });
    await this.#release({ tenant_id, _id });
    await rows.delete(tenant_id, { _id });
  }

  /** Restores the outputs that it superseded, except those that it still supersedes. */
  async #release({ tenant_id, _id }: Pick<OutputDoc, "tenant_id" | "_id">, still: readonly string[] = []) {
    const options = { projection: { _id: 1 } } as const;
    for (const { _id: id } of await this.#outputs.rows.find(tenant_id, { superseded_by: _id }, options)) {
      if (still.includes(id)) continue;
      await this.#change(tenant_id, { _id: id, superseded_by: _id }, { superseded_by: null });
    }
  }

  /**
   * Restores an output that supersedes its own successor, directly or through others: in a cycle none would be found.
   * The one that was saved later decides.
   */
  async #leaveCircle({ tenant_id, _id, superseded_by, supersedes_ids, saved_at }: OutputDoc): Promise<void> {
    const { rows } = this.#outputs;
    const met = new Set<string>();
    for (let above = superseded_by; above !== null && !met.has(above); ) {
      met.add(above);
      if (supersedes_ids.includes(above)) {
        const earlier = { _id: superseded_by as string, saved_at: { $lte: saved_at } };
        const left = await rows.update(tenant_id, earlier, { $pull: { supersedes_ids: _id } });
        if (left) await this.#change(tenant_id, { _id, superseded_by }, { superseded_by: null });
        return;
      }
      above = (await rows.findOne(tenant_id, { _id: above }))?.superseded_by ?? null;
    }
  }

  /** Changes another output, and queues it for search. */
  async #change(tenant_id: string, filter: Partial<OutputDoc>, $set: Partial<OutputDoc>): Promise<void> {
    const queue = place(tenant_id, this.#outputs.now());
    const changed = await this.#outputs.rows.update(
      tenant_id,
      { ...filter, deleted_at: null },
      { $set: { ...$set, queue }, $inc: { version: 1 } },
    );
    if (changed) this.#outputs.nudge();
  }
}

/** Yields a text in windows that end at a paragraph or a line. */
async function* windows(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let held = "";
  let passed = 0;
  for await (const part of bytes) {
    held += decoder.decode(part, { stream: true });
    if (held.length < WINDOW) continue;
    // A cut too near the beginning would leave nearly all for the next window.
    const ends = [held.lastIndexOf("\n\n"), held.lastIndexOf("\n"), held.lastIndexOf(" ")];
    const cut = ends.find((at) => at > WINDOW / 2) ?? held.length;
    yield held.slice(0, cut);
    passed += cut;
    held = held.slice(cut);
    if (passed >= MOST_SEARCHED) return;
  }
  yield held;
}
