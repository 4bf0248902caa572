import { Document } from "@langchain/core/documents";
import { BaseRetriever, type BaseRetrieverInput } from "@langchain/core/retrievers";
import type { Client, DocumentsSearchParams, MemoriesSearchParams } from "sensorium";

/** The client, and how it searches: `limit` (default 5), `min_score` … */
export interface MemoryRetrieverFields extends BaseRetrieverInput {
  client: Client;
  search?: Omit<MemoriesSearchParams, "query">;
}

/** As of memories. */
export interface DocumentRetrieverFields extends BaseRetrieverInput {
  client: Client;
  search?: Omit<DocumentsSearchParams, "query">;
}

const MOST_FOUND = { limit: 5 };

/**
 * Retrieves the memories that match a question in words or meaning. The metadata of a memory is below `metadata`, next
 * to `title`, `type`, `scope`, `tags`, `created_at` and `score`.
 */
export class MemoryRetriever extends BaseRetriever {
  lc_namespace = ["sensorium", "retrievers"];
  readonly #fields: MemoryRetrieverFields;

  static override lc_name() {
    return "SensoriumMemoryRetriever";
  }

  constructor(fields: MemoryRetrieverFields) {
    super(fields);
    this.#fields = fields;
  }

  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    const { client, search } = this.#fields;
    const { results } = await client.memories.search({ ...MOST_FOUND, ...search, query });
    return results.map(
      ({ memory: { id, content, title, type, scope, tags, created_at, metadata }, score }) => {
        const known = { title, type, scope, tags, created_at, score, metadata };
        return new Document({ id, pageContent: content, metadata: known });
      },
    );
  }
}

/** Retrieves the passages of documents that match a question in words or meaning, with where they are in which document. */
export class DocumentRetriever extends BaseRetriever {
  lc_namespace = ["sensorium", "retrievers"];
  readonly #fields: DocumentRetrieverFields;

  static override lc_name() {
    return "SensoriumDocumentRetriever";
  }

  constructor(fields: DocumentRetrieverFields) {
    super(fields);
    this.#fields = fields;
  }

  override async _getRelevantDocuments(query: string): Promise<Document[]> {
    const { client, search } = this.#fields;
    const { results } = await client.documents.search({ ...MOST_FOUND, ...search, query });
    return results.map(
      ({ chunk: { chunk_id, text, ...place }, document: { filename, version_num }, score }) => {
        const { document_id, page_number, char_offset } = place;
        const metadata = { document_id, filename, version_num, page_number, char_offset, score };
        return new Document({ id: chunk_id, pageContent: text, metadata });
      },
    );
  }
}
