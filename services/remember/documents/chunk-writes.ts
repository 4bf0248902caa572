import type { ServiceBroker } from "moleculer";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { SearchDrop } from "../../../storage/search/entry.ts";
import type { ChunkDoc, DocumentDoc } from "./documents.model.ts";

const PAGE = 200;
/** Rows per write: a few milliseconds of the embedded store's writer. */
const ROWS = 100;

/** Writes chunks of documents, and lets erasures wait for pending writes. */
export class ChunkWrites {
  readonly #chunks: TenantCollection<ChunkDoc>;
  readonly #writing = new Map<string, Promise<unknown>>();
  /** Erased documents: chunks that are still being read are not written. */
  readonly #erased = new Set<string>();

  constructor(chunks: TenantCollection<ChunkDoc>) {
    this.#chunks = chunks;
  }

  /** Replaces the chunks of a document; returns false if it was erased. */
  async replace({ _id, tenant_id }: DocumentDoc, rows: ChunkDoc[]): Promise<boolean> {
    if (this.#erased.has(_id)) return false;
    const write = async () => {
      await this.#chunks.deleteMany(tenant_id, { document_id: _id });
      for (let at = 0; at < rows.length; at += ROWS) await this.#chunks.insertMany(rows.slice(at, at + ROWS));
    };
    const writing = write();
    this.#writing.set(
      _id,
      writing.catch(() => undefined),
    );
    await writing.finally(() => this.#writing.delete(_id));
    return true;
  }

  /** Resolves when no more writes to these documents can happen. */
  async leave(document_ids: readonly string[]): Promise<void> {
    for (const id of document_ids) this.#erased.add(id);
    await Promise.all(document_ids.map((id) => this.#writing.get(id)));
  }
}

/** Removes a document's chunks from search, then their rows. @returns how many vectors they had */
export async function dropChunks(
  chunks: TenantCollection<ChunkDoc>,
  caller: Pick<ServiceBroker, "call">,
  tenant_id: string,
  document_id: string,
): Promise<number> {
  let vectors = 0;
  for (let from = 0; ; from += PAGE) {
    const range = { $gte: from, $lt: from + PAGE };
    const options = { projection: { chunk_index: 1 } } as const;
    const page = await chunks.find(tenant_id, { document_id, chunk_index: range }, options);
    if (page.length === 0) break;
    const drop: SearchDrop = { tenant_id, kind: "chunk", ids: page.map(({ _id }) => _id) };
    vectors += (await caller.call<{ vectors: number }, SearchDrop>("search.drop", drop)).vectors;
  }
  await chunks.deleteMany(tenant_id, { document_id });
  return vectors;
}
