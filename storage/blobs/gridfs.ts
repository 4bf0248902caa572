import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Db, GridFSBucket, type ObjectId } from "mongodb";
import type { TenantCollection } from "../collection.ts";
import type { Store } from "../connection.ts";
import type { Growth } from "../growth.ts";
import { type DocumentOf, t, tenantSchema } from "../model.ts";
import type { Where } from "../query.ts";
import {
  BlobMissing,
  type BlobRef,
  type Blobs,
  type BlobWrite,
  computeHash,
  type InUse,
  Measure,
  WRITE_MS,
} from "./blobs.ts";

/** Metadata of a file in GridFS, under the same `_id`. It is created before the file and deleted after it. */
interface BlobDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** Null while the file is incomplete, and once it is to be deleted. */
  hash: t.nullable(t.string()),
  /** Writes in progress that keep it, each until it ends or its node must have died. */
  writes: t.optional(t.subdocuments({ id: t.string(), until: t.date() })),
  /** How often it was put. */
  puts: t.optional(t.number()),
});
schema.index({ tenant_id: 1, hash: 1 });

/** GridFS accepts any id, but its types only ObjectIds. */
const fileId = (_id: string) => _id as unknown as ObjectId;

const BATCH = 500;
/**
 * Each chunk is a write that a majority must confirm before the next: fewer and larger than MongoDB's default of 255
 * KB.
 */
const CHUNK_BYTES = 1_048_576;

/** Blobs in GridFS. Two concurrent puts of the same bytes may store them twice: both are kept, or neither. */
export class GridFsBlobs implements Blobs {
  readonly #rows: TenantCollection<BlobDoc>;
  readonly #bucket: GridFSBucket;
  readonly #now: () => number;
  readonly #growth: Growth;
  readonly inUse: InUse;

  constructor(store: Store, inUse: InUse) {
    this.inUse = inUse;
    this.#rows = store.collection<BlobDoc>({ name: "blobs", schema });
    const writeConcern = { w: "majority", journal: true } as const;
    this.#bucket = new GridFSBucket(store.connection.db as Db, {
      bucketName: "blobs",
      chunkSizeBytes: CHUNK_BYTES,
      writeConcern,
    });
    this.#now = store.now;
    this.#growth = store.growth;
  }

  async put(write: BlobWrite, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobRef> {
    const { tenant_id } = write;
    const known = content instanceof Uint8Array ? await computeHash(content) : null;
    if (known !== null && (await this.#touch(write, known))) {
      return { hash: known, size: (content as Uint8Array).length };
    }
    const _id = randomUUID();
    await this.#rows.insert({ _id, tenant_id, hash: null, puts: 1, writes: [this.#kept(write)] });
    const ref = await this.#upload(_id, content, known);
    await this.#name(tenant_id, _id, ref.hash);
    write.hashes.add(ref.hash);
    this.#growth.add(tenant_id, ref.size);
    return ref;
  }

  async end({ tenant_id, id, hashes }: BlobWrite): Promise<void> {
    await this.#rows.updateMany(
      tenant_id,
      { hash: { $in: [...hashes] } },
      { $pull: { writes: { id } as never } },
    );
  }

  async release(tenant_id: string, hashes: readonly string[]): Promise<number> {
    const rows = await this.#rows.find(tenant_id, { hash: { $in: [...new Set(hashes)] } });
    const free = rows.filter((row) => this.#isFree(row));
    if (free.length === 0) return 0;
    const used = new Set(await this.inUse(tenant_id, [...new Set(free.map(({ hash }) => hash as string))]));
    let released = 0;
    for (const row of free.filter(({ hash }) => !used.has(hash as string))) {
      // If it was put again meanwhile, its new owner releases it.
      const same = { _id: row._id, hash: row.hash, puts: row.puts ?? null };
      // It can no longer be found; a sweep removes the remains of a crash.
      if (!(await this.#rows.update(tenant_id, same as Where<BlobDoc>, { $set: { hash: null } }))) continue;
      await this.#delete(row);
      released++;
    }
    return released;
  }

  async releaseAll(tenant_id: string): Promise<number> {
    let released = 0;
    for await (const rows of this.#rows.batches(tenant_id, {}, { limit: BATCH })) {
      for (const row of rows) {
        if (row.hash !== null || !this.#isFree(row)) continue;
        await this.#delete(row);
        released++;
      }
      released += await this.release(
        tenant_id,
        rows.flatMap(({ hash }) => hash ?? []),
      );
    }
    return released;
  }

  async get(tenant_id: string, hash: string): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of await this.stream(tenant_id, hash)) parts.push(part);
    return Buffer.concat(parts);
  }

  async stream(tenant_id: string, hash: string, from = 0): Promise<Readable> {
    const row = await this.#rows.findOne(tenant_id, { hash });
    if (!row) throw new BlobMissing(`${tenant_id} has no blob ${hash}.`);
    const id = fileId(row._id);
    if (from === 0) return this.#bucket.openDownloadStream(id);
    // The driver's default for `end` is 0.
    const [file] = await this.#bucket.find({ _id: id }).toArray();
    return this.#bucket.openDownloadStream(id, { start: from, end: file?.length ?? from });
  }

  tenants(): Promise<string[]> {
    return this.#rows.system.distinct("tenant_id");
  }

  async erase(tenant_id: string): Promise<number> {
    await this.#rows.updateMany(tenant_id, {}, { $set: { hash: null } });
    for (let erased = 0; ; ) {
      const rows = await this.#rows.find(tenant_id, {}, { limit: BATCH });
      if (rows.length === 0) return erased;
      for (const row of rows) await this.#delete(row);
      erased += rows.length;
    }
  }

  async bytesOf(tenant_id: string): Promise<number> {
    let bytes = 0;
    for await (const rows of this.#rows.batches(tenant_id, {}, { projection: { _id: 1 }, limit: BATCH })) {
      const ids = rows.map(({ _id }) => fileId(_id));
      for (const { length } of await this.#bucket.find({ _id: { $in: ids } }).toArray()) bytes += length;
    }
    return bytes;
  }

  async #upload(
    _id: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    known: string | null,
  ): Promise<BlobRef> {
    const target = this.#bucket.openUploadStreamWithId(fileId(_id), _id);
    if (content instanceof Uint8Array) {
      await pipeline(Readable.from([content]), target);
      return { hash: known as string, size: content.length };
    }
    const measure = new Measure();
    await pipeline(measure.through(content), target);
    return { hash: measure.hash(), size: measure.size };
  }

  async #touch(write: BlobWrite, hash: string): Promise<boolean> {
    const { tenant_id } = write;
    const row = await this.#rows.findOne(tenant_id, { hash }, { projection: { _id: 1 } });
    const change = { $push: { writes: this.#kept(write) }, $inc: { puts: 1 } };
    // By its id, which a sharded collection requires for a change of one row.
    if (!row || !(await this.#rows.update(tenant_id, { _id: row._id, hash }, change))) return false;
    write.hashes.add(hash);
    return true;
  }

  #kept({ id }: BlobWrite) {
    return { id, until: new Date(this.#now() + WRITE_MS) };
  }

  #isFree({ writes = [] }: BlobDoc): boolean {
    return writes.every(({ until }) => until.getTime() <= this.#now());
  }

  /** Publishes a complete file, unless its tenant was erased meanwhile. */
  async #name(tenant_id: string, _id: string, hash: string): Promise<void> {
    if (await this.#rows.update(tenant_id, { _id }, { $set: { hash } })) return;
    await this.#deleteFile(_id);
    throw new BlobMissing(`${tenant_id} was erased.`);
  }

  /** The file first: the next sweep finds a row without a file, but nothing finds a file without a row. */
  async #delete({ tenant_id, _id }: BlobDoc): Promise<void> {
    const [file] = await this.#bucket.find({ _id: fileId(_id) }).toArray();
    await this.#deleteFile(_id);
    if (await this.#rows.delete(tenant_id, { _id })) this.#growth.add(tenant_id, -(file?.length ?? 0));
  }

  async #deleteFile(_id: string): Promise<void> {
    try {
      await this.#bucket.delete(fileId(_id));
    } catch (err) {
      // The driver has deleted the chunks by then; an incomplete file is no failure.
      if (!/File not found/i.test((err as Error).message)) throw err;
    }
  }
}
