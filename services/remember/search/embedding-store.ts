import { Binary } from "mongodb";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { SearchKind } from "../../../storage/search/entry.ts";
import type { Unembedded, VectorRow } from "../../../storage/search/protocol.ts";
import { type EmbeddingDoc, embeddingId } from "./search.model.ts";

/** Stores the vectors of a tenant's texts in the record. */
export class EmbeddingStore {
  readonly #embeddings: TenantCollection<EmbeddingDoc>;
  readonly #now: () => number;

  constructor(embeddings: TenantCollection<EmbeddingDoc>, now: () => number) {
    this.#embeddings = embeddings;
    this.#now = now;
  }

  /** Returns the vectors that the model has computed of these texts, which all belong to one tenant. */
  async find(model: string, texts: readonly Unembedded[]): Promise<VectorRow[]> {
    const [first] = texts;
    if (!first) return [];
    const ids = texts.map(({ kind, id }) => embeddingId(kind, id));
    const rows = await this.#embeddings.find(first.tenant_id, { _id: { $in: ids }, model });
    const found = new Map(rows.map((row) => [row._id, row]));
    return texts.flatMap(({ tenant_id, kind, id, hash }) => {
      const row = found.get(embeddingId(kind, id));
      return row?.hash === hash ? [{ tenant_id, kind, id, hash, vector: toFloats(row.vector) }] : [];
    });
  }

  async save(model: string, rows: readonly VectorRow[]): Promise<void> {
    if (rows.length === 0) return;
    const created_at = new Date(this.#now());
    await this.#embeddings.upsert(
      rows.map(({ tenant_id, kind, id, hash, vector }) => ({
        filter: { _id: embeddingId(kind, id), tenant_id },
        update: { $set: { kind, model, hash, vector: toBinary(vector), created_at } },
      })),
    );
  }

  /** Deletes vectors; returns how many there were. */
  erase(tenant_id: string, kind: SearchKind, ids: readonly string[]): Promise<number> {
    const _id = { $in: ids.map((id) => embeddingId(kind, id)) };
    return this.#embeddings.deleteMany(tenant_id, { _id });
  }
}

function toBinary({ buffer, byteOffset, byteLength }: Float32Array): Binary {
  return new Binary(new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength));
}

function toFloats(vector: Binary): Float32Array {
  const bytes = vector.value();
  // Copied: floats must be aligned to four bytes.
  return new Float32Array(Uint8Array.from(bytes).buffer);
}
