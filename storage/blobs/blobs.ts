import type { Readable } from "node:stream";

/** A row's reference to a blob. `hash`: SHA-256 of its bytes in hex. */
export interface BlobRef {
  hash: string;
  size: number;
}

/** Returns the hashes of a tenant that are in use. */
export type InUse = (tenant_id: string, hashes: string[]) => Promise<readonly string[]>;

/** Bytes stored outside of rows, addressed by tenant and content: equal bytes are stored once. */
export interface Blobs {
  /**
   * Resolves when the bytes are durable. They are kept for at least an hour, so that a row can be written that
   * references them.
   *
   * @param expected minimum number of bytes of a stream
   */
  put(
    tenant_id: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    expected?: number,
  ): Promise<BlobRef>;
  /** @throws BlobMissing */
  get(tenant_id: string, hash: string): Promise<Buffer>;
  /** Streams blobs too large for memory. @throws BlobMissing */
  stream(tenant_id: string, hash: string): Promise<Readable>;
  /** Deletes blobs that are unused and were not put since `before` (ms); returns how many. */
  sweep(before: number, inUse: InUse): Promise<number>;
  /** Deletes blobs unconditionally: only for those that no row references. */
  delete(tenant_id: string, hashes: readonly string[]): Promise<void>;
  /** Deletes all of a tenant's blobs; returns how many. */
  erase(tenant_id: string): Promise<number>;
  /** Returns the total size of a tenant's blobs in bytes. */
  bytesOf(tenant_id: string): Promise<number>;
}
