import type { Readable } from "node:stream";

/** What a row keeps of a blob. `hash`: SHA-256 of its bytes in hex. */
export interface BlobRef {
  hash: string;
  size: number;
}

/** Which of a tenant's hashes somebody still needs. */
export type InUse = (tenant_id: string, hashes: string[]) => Promise<readonly string[]>;

/** Bytes kept outside of rows, addressed by tenant and content: the same bytes are there once. */
export interface Blobs {
  /**
   * Fulfils when the bytes are durable. What is put is kept for an hour at least, so that a row can come to name it.
   *
   * @param expected the least number of bytes that a stream is known to bring
   */
  put(
    tenant_id: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected?: number,
  ): Promise<BlobRef>;
  /** @throws BlobMissing */
  get(tenant_id: string, hash: string): Promise<Buffer>;
  /** For what is too large to hold at once. @throws BlobMissing */
  stream(tenant_id: string, hash: string): Promise<Readable>;
  /** Deletes what nobody uses and nobody has put since `before` (ms); gives how many. */
  sweep(before: number, inUse: InUse): Promise<number>;
  /** Deletes these, whoever uses them: only for what no row names. */
  delete(tenant_id: string, hashes: readonly string[]): Promise<void>;
  /** Deletes all that a tenant has; gives how many. */
  erase(tenant_id: string): Promise<number>;
  /** How many bytes a tenant's blobs have. */
  bytesOf(tenant_id: string): Promise<number>;
}
