import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { backOff } from "../../../lib/queue/backoff.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { place, type Queue, type Queued as QueuedRow } from "../../../mixins/queue.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { SearchPut } from "../../../storage/search/entry.ts";
import { noteWork } from "../../platform/usage/tally.ts";
import { labelsOf } from "./audience.ts";
import { ChunkWrites, dropChunks } from "./chunk-writes.ts";
import { type DocumentConverter, NotConvertible } from "./converter.ts";
import type { DocumentChange } from "./documents.contract.ts";
import { type ChunkDoc, type DocumentDoc, toChunks, toEntry } from "./documents.model.ts";
import type { Documents } from "./documents.ts";
import { type DocumentReaders, isIncomplete } from "./parsers/page.ts";
import { type Reading, type ReadRequest, readDocument } from "./reader.ts";

/** Chunks per call to search: well below the NATS payload limit. */
const PAGE = 100;
/** Memory limit for reading a document. */
const MEGABYTES = 512;
/** Reading shares the processors: by the clock, it may take as many times its limit. */
const MOST_WAITING = 10;

/** A converter that is away gets a document this many times more, for minutes. */
const MOST_CONVERSIONS = 6;
/** Characters of a converter's reason that a loss shows. */
const MAX_REASON = 300;

/** Limits of documents in work, which keep a parser busy for long: on this node, of one tenant, and of one uploader. */
export const IN_WORK = { capacity: 3, perTenant: 2, perCaller: 1 };

type Queued = QueuedRow<DocumentDoc>;
type Step = (doc: Queued) => Promise<void>;
/** Final results of ingestion that are published. */
type Announced = Static<typeof DocumentChange>;

interface Dependencies {
  documents: Documents;
  queue: Queue<DocumentDoc>;
  blobs: Blobs;
  broker: ServiceBroker;
  converter: DocumentConverter | null;
  /** Modules of extensions. */
  readers: DocumentReaders;
  /** Takes the next document on this node. */
  next(): void;
  /** Processor time for reading a document. */
  seconds: number;
}

/**
 * Ingests documents after upload: queued → chunking → embedding → stored, or failed; later superseded or deleted. Each
 * step starts from the row alone and may run twice; its last write checks the lease. A node that crashes or loses the
 * document leaves it to the next.
 */
export class Ingest {
  readonly #deps: Dependencies;
  readonly #ending = new AbortController();
  readonly #chunks: ChunkWrites;
  readonly #steps: Record<DocumentDoc["status"], Step> = {
    queued: (doc) => this.#read(doc),
    chunking: (doc) => this.#read(doc),
    embedding: (doc) => this.#index(doc),
    stored: (doc) => this.#settle(doc),
    superseded: (doc) => this.#withdraw(doc),
    failed: (doc) => this.#finish(doc),
    deleted: (doc) => this.#remove(doc),
  };

  constructor(deps: Dependencies) {
    this.#deps = deps;
    this.#chunks = new ChunkWrites(deps.documents.chunks);
  }

  /** Stops reading; documents are read again after the next start. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#deps.queue.ended();
  }

  /** Resolves when no more writes to these erased documents can happen. */
  leave(document_ids: readonly string[]): Promise<void> {
    return this.#chunks.leave(document_ids);
  }

  /** Begins the next step of one document; returns false if none is due or this node is at its limit. */
  work(): Promise<boolean> {
    return this.#deps.queue.begin((claimed) => this.#step(claimed), this.#deps.next);
  }

  async #step(claimed: Queued): Promise<void> {
    await this.#deps.queue
      .hold(
        claimed,
        async (doc) => {
          await this.#align(doc);
          await this.#steps[claimed.status](doc);
        },
        (doc, err) => this.#postpone(doc, err),
      )
      .catch((err) =>
        this.#deps.broker.logger.warn(
          { err },
          "documents: a step failed and will be retried when its lease ends",
        ),
      );
    this.#tell(claimed);
  }

  async #postpone(doc: Queued, err: unknown): Promise<void> {
    if (this.#ending.signal.aborted) {
      await this.#deps.queue.release(doc, this.#deps.documents.now());
      return;
    }
    const attempts = doc.attempts + 1;
    this.#deps.broker.logger.warn(
      { err, document_id: doc._id },
      "documents: a step failed and will be retried",
    );
    await this.#deps.queue.release(doc, this.#deps.documents.now() + backOff(attempts) * 1000, { attempts });
  }

  /** Applies a change of a document's access to everything made from it. */
  async #align(doc: Queued): Promise<void> {
    const { _id, tenant_id, scope, team_id, subject, access_change } = doc;
    if (access_change === undefined) return;
    const { chunks, rows, now } = this.#deps.documents;
    const $set = { scope, team_id, labels: labelsOf(doc.audience), changed_at: new Date(now()) };
    await chunks.updateMany(tenant_id, { document_id: _id }, { $set, $inc: { version: 1 } });
    for await (const page of this.#chunksOf(doc)) await this.#put(tenant_id, page);
    if (subject)
      await this.#deps.broker.call("memories.add_subject", { tenant_id, document_id: _id, subject });
    await rows.update(tenant_id, { _id, access_change }, { $unset: { access_change: 1 } });
  }

  async #read(doc: Queued): Promise<void> {
    const reading = await this.#parse(doc);
    if (!reading) return;
    const read = await this.#improve(doc, reading);
    if ("unreadable" in read) return this.#fail(doc, `The file ${read.unreadable}.`);
    const chunks = toChunks(doc, read.pieces, new Date(this.#deps.documents.now()));
    if (!(await this.#chunks.replace(doc, chunks))) return;
    await this.#next(doc, { status: "embedding", chunk_count: chunks.length, losses: read.losses });
  }

  /** Returns null if the lease was lost while the document waited: it was deleted, or another node has it. */
  async #parse(doc: Queued): Promise<Reading | null> {
    const { signal } = this.#ending;
    signal.throwIfAborted();
    const { tenant_id, _id, queue } = doc;
    const begun = await this.#deps.documents.rows.update(
      tenant_id,
      { _id, queue },
      { $set: { status: "chunking" } },
    );
    if (!begun) return null;
    this.#tell(doc);
    const bytes = await this.#deps.blobs.get(tenant_id, doc.hash);
    return this.#readFile(doc, { bytes, mime_type: doc.mime_type });
  }

  async #readFile({ tenant_id }: Queued, file: Omit<ReadRequest, "readers">): Promise<Reading> {
    const { signal } = this.#ending;
    const { seconds } = this.#deps;
    const limits = { cpuSeconds: seconds, wallSeconds: MOST_WAITING * seconds, megabytes: MEGABYTES };
    const begun = performance.now();
    const reading = await readDocument({ ...file, readers: this.#deps.readers }, signal, limits);
    noteWork(tenant_id, performance.now() - begun);
    signal.throwIfAborted();
    return reading;
  }

  /** Lets the converter, if there is one, read what could not be read here, or not completely. */
  async #improve(doc: Queued, own: Reading): Promise<Reading> {
    const { converter } = this.#deps;
    const isRead = !("unreadable" in own);
    if (!converter || (isRead && !isIncomplete(own.losses))) return own;
    const converted = await this.#convert(converter, doc, isRead);
    if (!("unreadable" in converted)) return converted;
    const why = converted.unreadable;
    if (!isRead) return { unreadable: `${own.unreadable}; ${why}` };
    const loss = { kind: "conversion", place: why.slice(0, MAX_REASON).toWellFormed(), count: 1 };
    return { ...own, losses: [...own.losses, loss] };
  }

  /**
   * Returns what the converter reads, or why it does not.
   * @param isRead whether the document was read here: then a converter that is away is not waited for
   * @throws to try again later
   */
  async #convert(converter: DocumentConverter, doc: Queued, isRead: boolean): Promise<Reading> {
    const { tenant_id, filename, mime_type, attempts } = doc;
    const { signal } = this.#ending;
    try {
      const bytes = await this.#deps.blobs.get(tenant_id, doc.hash);
      const converted = await converter.convert({ bytes, filename, mime_type }, signal);
      const reading = await this.#readFile(doc, converted);
      return "unreadable" in reading ? { unreadable: `converted, it ${reading.unreadable}` } : reading;
    } catch (err) {
      const { message } = err as Error;
      if (err instanceof NotConvertible) return { unreadable: `the converter refused it: ${message}` };
      if (signal.aborted || (!isRead && attempts < MOST_CONVERSIONS)) throw err;
      return { unreadable: `the converter failed: ${message}` };
    }
  }

  async #fail(doc: Queued, error: string): Promise<void> {
    const { rows, now } = this.#deps.documents;
    const { _id, tenant_id, queue } = doc;
    const $set = { status: "failed" as const, error, queue: place(tenant_id, now(), doc.agent_id) };
    await rows.update(tenant_id, { _id, queue }, { $set, $unset: { live_key: 1 } });
  }

  async #index(doc: Queued): Promise<void> {
    for await (const page of this.#chunksOf(doc)) await this.#put(doc.tenant_id, page);
    await this.#next(doc, { status: "stored", ingested_at: new Date(this.#deps.documents.now()) });
  }

  /** The newest document of a name supersedes the others. */
  async #settle(doc: Queued): Promise<void> {
    const { rows, now } = this.#deps.documents;
    const { tenant_id, source_id, filename } = doc;
    const named = { source_id, filename, status: "stored" as const };
    const stored = await rows.find(tenant_id, named, { projection: { audience: 0, losses: 0 } });
    const [newest, ...older] = stored.sort(newestFirst);
    for (const { _id, agent_id } of older) {
      const $set = {
        status: "superseded" as const,
        superseded_by: (newest as DocumentDoc)._id,
        stale_since: new Date(now()),
        queue: place(tenant_id, now(), agent_id),
      };
      await rows.update(tenant_id, { _id, status: "stored" }, { $set, $unset: { live_key: 1 } });
    }
    await this.#finish(doc);
  }

  async #withdraw(doc: Queued): Promise<void> {
    const { chunks, now } = this.#deps.documents;
    const { tenant_id, _id } = doc;
    const $set = { searched: false, changed_at: new Date(now()) };
    await chunks.updateMany(tenant_id, { document_id: _id, searched: true }, { $set, $inc: { version: 1 } });
    for await (const page of this.#chunksOf(doc)) await this.#put(tenant_id, page);
    await this.#finish(doc);
  }

  async #remove(doc: Queued): Promise<void> {
    await this.#forget(doc);
    await this.#finish(doc);
  }

  async #forget({ tenant_id, _id }: DocumentDoc): Promise<void> {
    await dropChunks(this.#deps.documents.chunks, this.#deps.broker, tenant_id, _id);
  }

  /** Publishes the result; nothing is left to do then. */
  async #finish(doc: Queued): Promise<void> {
    const { _id, tenant_id, queue } = doc;
    await this.#announce(doc);
    await this.#deps.documents.rows.update(
      tenant_id,
      // A change of its access since then keeps it in the queue.
      { _id, queue, access_change: { $exists: false } },
      { $unset: { queue: 1 }, $set: { attempts: 0 } },
    );
  }

  async #next(doc: Queued, more: Partial<DocumentDoc>): Promise<void> {
    const moved = await this.#deps.queue.release(doc, this.#deps.documents.now(), { ...more, attempts: 0 });
    if (moved) return;
    // Deleted while its chunks were being written: remove them.
    const now = await this.#deps.documents.rows.findOne(doc.tenant_id, { _id: doc._id });
    if (now?.status === "deleted") await this.#forget(now);
  }

  async *#chunksOf({ tenant_id, _id }: DocumentDoc): AsyncGenerator<ChunkDoc[]> {
    for (let from = 0; ; from += PAGE) {
      const range = { $gte: from, $lt: from + PAGE };
      const wanted = { document_id: _id, chunk_index: range };
      const page = await this.#deps.documents.chunks.find(tenant_id, wanted, {
        bounded: "a page of short texts",
      });
      if (page.length === 0) return;
      yield page;
    }
  }

  #put(tenant_id: string, page: ChunkDoc[]): Promise<unknown> {
    const put: SearchPut = { tenant_id, entries: page.map(toEntry) };
    return this.#deps.broker.call("search.put", put);
  }

  #tell({ tenant_id }: DocumentDoc): void {
    reportChange(this.#deps.broker, tenant_id, "document");
  }

  #announce(doc: DocumentDoc): Promise<unknown> {
    const { _id, tenant_id, source_id, version_num, superseded_by, scope, agent_id, team_id } = doc;
    const status = doc.status as Announced["status"];
    return this.#deps.broker.call("events.emit", {
      tenant_id,
      type: `service.document.${status}` satisfies PlatformEventType,
      subject: _id,
      data: { document_id: _id, status, source_id, version_num, superseded_by } satisfies Announced,
      dedupe: `document ${_id} ${status}`,
      audience: { scope, agent_id, team_id },
    });
  }
}

function newestFirst(a: DocumentDoc, b: DocumentDoc): number {
  const later = b.version_num - a.version_num || b.created_at.getTime() - a.created_at.getTime();
  return later || (a._id > b._id ? -1 : 1);
}
