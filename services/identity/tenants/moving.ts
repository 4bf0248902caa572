import { conflict, type Fault, invalidValue, notFound, requireFound } from "../../../lib/contract/faults.ts";
import { RESTORE_KEY, SecretBox, SecretError } from "../../../lib/crypto/secrets.ts";
import { BlobMissing, BlobWrite } from "../../../storage/blobs/blobs.ts";
import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../../storage/model.ts";
import { ERASURES, tenantErasure } from "../../../storage/search/protocol.ts";
import { DUPLICATE_KEY, nullIfTaken, refusedRows } from "../../../storage/write-errors.ts";
import { MODELS } from "../../models.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type * as contract from "./moving.contract.ts";
import {
  admit,
  exportRow,
  findForeign,
  MOVED,
  type MovedModel,
  readRows,
  toImport,
} from "./portable-rows.ts";
import { changeRouting } from "./routing-change.ts";
import type { TenantDoc } from "./tenants.model.ts";
import { announce } from "./tenants.ts";

/** Rows of a page, and their bytes, unless a single one is larger. */
const PAGE = 2000;
const PAGE_BYTES = 1_048_576;
/** Bytes of a part of a content: in base64 less than the limit of a body. */
const PART_BYTES = 524_288;
const HELD = { $in: ["active", "suspended"] as ("active" | "suspended")[] };
const ERASURE_NOTES = MODELS.find(({ name }) => name === ERASURES) as unknown as Model<TenantDocument>;

/**
 * Exports and imports tenants, a page of rows or a part of a content at a time (docs/decisions/0065-moving.md). Every
 * request can be repeated: an import adds what is missing and changes nothing, until it is complete.
 */
export class Moving {
  readonly #runtime: Runtime;
  readonly #tenants: TenantCollection<TenantDoc>;
  readonly #erasures: TenantCollection<TenantDocument>;
  readonly #collections = new Map<string, TenantCollection<TenantDocument>>();

  constructor(runtime: Runtime, tenants: TenantCollection<TenantDoc>) {
    this.#runtime = runtime;
    this.#tenants = tenants;
    this.#erasures = runtime.store.collection(ERASURE_NOTES);
  }

  async beginExport({ params: { tenant_id } }: CallOf<typeof contract.exportTenant>) {
    const tenant = await this.#require(tenant_id, HELD);
    const { slug, name, status, requests_per_minute = null, created_at, token_version = 0 } = tenant;
    const { quota_mb: storage_quota_mb } = await this.#runtime.usage.of(tenant_id);
    return {
      tenant: {
        ...{ id: tenant_id, slug, name, storage_quota_mb, requests_per_minute },
        created_at: created_at.toISOString(),
        // Its suspension for the export ends no connection elsewhere.
        token_version: token_version - (status === "suspended" ? 1 : 0),
      },
      collections: MOVED.map((model) => model.name),
    };
  }

  async exportRows({ params }: CallOf<typeof contract.exportTenantRows>) {
    const { tenant_id, collection, after, key } = params;
    await this.#require(tenant_id, HELD);
    const { model, rows } = await this.#collection(collection);
    const { rows: found, more } = await rows.findWithin(tenant_id, after ? { _id: { $gt: after } } : {}, {
      ...{ sort: { _id: 1 }, limit: PAGE, bytes: PAGE_BYTES },
    });
    const boxes = { own: this.#runtime.secrets, portable: boxOf(key) };
    const exported = found.map((row) => {
      const closed = () =>
        conflict(`A secret of ${collection}/${row._id} cannot be decrypted here. ${RESTORE_KEY}`);
      return opened(() => exportRow(model, row, boxes), closed);
    });
    const isLast = !more && found.length < PAGE;
    return {
      rows: exported.join(""),
      count: exported.length,
      blobs: [...new Set(found.flatMap((row) => hashesIn(model, row)))],
      next: isLast ? null : (found.at(-1) as TenantDocument)._id,
    };
  }

  async exportContent({
    params: { tenant_id, hash, from = 0 },
  }: CallOf<typeof contract.exportTenantContent>) {
    await this.#require(tenant_id, HELD);
    const parts: Buffer[] = [];
    let size = 0;
    const stream = await this.#runtime.blobs.stream(tenant_id, hash, from).catch(missing(hash));
    for await (const part of stream) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > PART_BYTES) break;
    }
    const content = Buffer.concat(parts).subarray(0, PART_BYTES).toString("base64");
    return { content, next: size > PART_BYTES ? from + PART_BYTES : null };
  }

  /** @throws Fault conflict if the slug is taken, or the tenant is here and not from this export */
  async importTenant(ctx: CallOf<typeof contract.importTenant>) {
    const { tenant, export_id, complete } = ctx.params;
    const row = (await this.#find(tenant.id)) ?? (await this.#create(ctx));
    const there = row.status === "erased" ? await this.#readmit(ctx, row) : row;
    const { status, slug } = there;
    if (status === "erasing" || status === "founding")
      throw conflict(`The tenant is ${status} here. Retry when that has ended.`);
    if (there.export_id !== export_id)
      throw conflict(
        status === "importing"
          ? `The tenant ${slug} is being imported from another file. Complete that import, or erase the tenant first.`
          : `The tenant ${slug} is here already. Erase it first.`,
      );
    if (status !== "importing") return { status, slug, done: true };
    await this.#runtime.usage.setQuota(tenant.id, tenant.storage_quota_mb);
    if (!complete) {
      await this.#tenants.update(tenant.id, { _id: tenant.id, status }, { $unset: { import_refused: 1 } });
      return { status, slug, done: false };
    }
    if (there.import_refused)
      throw conflict("Rows of the import were refused. Begin it again, with a file that fits.");
    return this.#open(ctx);
  }

  async importRows({ params }: CallOf<typeof contract.importTenantRows>) {
    const { tenant_id, collection, key, rows: text } = params;
    await this.#require(tenant_id, "importing");
    const { model, rows } = await this.#collection(collection);
    const imported = readRows(tenant_id, text);
    if (imported.length > PAGE) throw invalidValue("rows", `rows: at most ${PAGE} (got ${imported.length}).`);
    const boxes = { own: this.#runtime.secrets, portable: boxOf(key) };
    const now = new Date(this.#runtime.store.now());
    const converted = imported.map((each) => {
      const closed = () =>
        invalidValue("key", `key: a secret of ${collection}/${each._id} was encrypted with another one.`);
      return { id: each._id, ...opened(() => toImport(model, each, boxes), closed) };
    });
    const ids = converted.map(({ id }) => id);
    const there = await this.#existing(rows, tenant_id, ids);
    const fresh = converted.filter(({ id }) => !there.has(id));
    const added: TenantDocument[] = [];
    const refused: { id: string; reason: string }[] = [];
    const Stored = this.#runtime.store.connection.model<object>(collection);
    for (const { id, row } of fresh) {
      const admitted = row && (await admit(model, Stored, row, now));
      if (admitted && "reason" in admitted) refused.push({ id, reason: admitted.reason });
      else if (admitted) added.push(admitted.row);
    }
    const left_out = fresh.length - added.length - refused.length;
    const foreign = await findForeign(model, tenant_id, added, (name) => this.#collection(name));
    for (const [id, reason] of foreign) refused.push({ id, reason });
    for (const id of await this.#insert(
      rows,
      tenant_id,
      added.filter(({ _id }) => !foreign.has(_id)),
    ))
      refused.push({ id, reason: "has an id or a unique field that another row has" });
    if (refused.length > 0)
      await this.#tenants.update(tenant_id, { _id: tenant_id }, { $set: { import_refused: true } });
    return {
      added: fresh.length - left_out - refused.length,
      // They have no other origin: at most, background work has changed them.
      same: there.size,
      ...{ left_out, refused },
      unset: converted.flatMap(({ id, row, isUnset }) => (row && isUnset ? `${collection}/${id}` : [])),
    };
  }

  async importContent({ params }: CallOf<typeof contract.importTenantContent>) {
    const { tenant_id, content, parts, hash } = params;
    const { blobs } = this.#runtime;
    await this.#require(tenant_id, "importing");
    if (content === undefined && parts === undefined) {
      if (hash === undefined) throw invalidValue("content", "content, parts or hash is required.");
      const stream = await blobs.stream(tenant_id, hash).catch(nullIfMissing);
      stream?.destroy();
      return { hash: stream && hash };
    }
    const write = new BlobWrite(tenant_id);
    const bytes =
      content === undefined ? this.#joined(tenant_id, parts ?? []) : Buffer.from(content, "base64");
    const ref = await blobs.put(write, bytes);
    // Neither it nor its parts are released: sweeps keep all until the import is complete.
    await blobs.end(write);
    return { hash: ref.hash };
  }

  async *#joined(tenant_id: string, parts: string[]): AsyncGenerator<Buffer> {
    for (const part of parts) yield* await this.#runtime.blobs.stream(tenant_id, part).catch(missing(part));
  }

  #find(_id: string): Promise<TenantDoc | null> {
    return this.#tenants.findOne(_id, { _id });
  }

  async #require(tenant_id: string, status: typeof HELD | "importing"): Promise<TenantDoc> {
    return requireFound(
      await this.#tenants.findOne(tenant_id, { _id: tenant_id, status }),
      "tenant",
      tenant_id,
    );
  }

  /** Returns a collection that moves. It is opened at the first call, because only some nodes need it. */
  async #collection(name: string): Promise<{ model: MovedModel; rows: TenantCollection<TenantDocument> }> {
    const { store } = this.#runtime;
    const model = MOVED.find((each) => each.name === name);
    if (!model) throw invalidValue("collection", `"${name}" is no collection that moves with a tenant.`);
    const rows = this.#collections.get(name) ?? store.collection(model);
    this.#collections.set(name, rows);
    await store.ready();
    return { model, rows };
  }

  async #existing(rows: TenantCollection<TenantDocument>, tenant_id: string, ids: string[]) {
    const existing = await rows.find(tenant_id, { _id: { $in: ids } }, { projection: { _id: 1 } });
    return new Set(existing.map(({ _id }) => _id));
  }

  /** Returns the ids of rows that another row excludes. */
  async #insert(rows: TenantCollection<TenantDocument>, tenant_id: string, added: TenantDocument[]) {
    if (added.length === 0) return [];
    try {
      await rows.insertMany(added);
      return [];
    } catch (err) {
      const refused = refusedRows(err, added.length);
      if (refused.some(({ code }) => code !== DUPLICATE_KEY)) throw err;
      const ids = refused.map(({ index }) => (added[index] as TenantDocument)._id);
      // Background work may have created the same row meanwhile.
      const there = await this.#existing(rows, tenant_id, ids);
      return ids.filter((id) => !there.has(id));
    }
  }

  async #create({ params }: CallOf<typeof contract.importTenant>): Promise<TenantDoc> {
    const { id: _id, slug, name, created_at, requests_per_minute, token_version } = params.tenant;
    const row: TenantDoc = {
      ...{ _id, tenant_id: _id, slug, name, status: "importing", export_id: params.export_id },
      ...(requests_per_minute !== null && { requests_per_minute }),
      ...(token_version && { token_version }),
      ...{ routing_version: 1, created_at: new Date(created_at) },
      updated_at: new Date(this.#runtime.store.now()),
    };
    // The same request, repeated, may have created it meanwhile.
    const there = (await this.#tenants.insert(row).catch(nullIfTaken)) ?? (await this.#find(_id));
    if (there) return there;
    throw slugTaken(slug);
  }

  /** Imports a tenant that was erased here. Its row has counted versions on, so that no old token counts again. */
  async #readmit(
    { params }: CallOf<typeof contract.importTenant>,
    { _id, erase_due_at, token_version: before = 0 }: TenantDoc,
  ): Promise<TenantDoc> {
    const { slug, name, created_at, requests_per_minute, token_version = 0 } = params.tenant;
    if (erase_due_at) throw conflict("The tenant was erased here just now. Retry in two minutes.");
    // Nodes that were away, and indexes that are built later, would drop what is imported.
    const note = tenantErasure(_id, new Date());
    await this.#erasures.delete(note.tenant_id, { _id: note._id });
    const $set = {
      ...{ slug, name, created_at: new Date(created_at), status: "importing" as const },
      ...{ export_id: params.export_id, ...(requests_per_minute !== null && { requests_per_minute }) },
      token_version: Math.max(before + 1, token_version),
    };
    const $inc = { routing_version: 1 };
    const $unset = requests_per_minute === null && { $unset: { requests_per_minute: 1 as const } };
    const change = { $set, $inc, ...$unset };
    const row = await this.#tenants.update(_id, { _id, status: "erased" }, change).catch(nullIfTaken);
    const there = row ?? (await this.#find(_id));
    if (there && there.status !== "erased") return there;
    throw slugTaken(slug);
  }

  async #open(ctx: CallOf<typeof contract.importTenant>) {
    const { tenant, export_id } = ctx.params;
    const { id: _id } = tenant;
    // Every routing table is read again: no list of changes leads to it.
    const $set = { status: "active" as const, routing_changes: [] };
    const change = {
      $set: { ...$set, updated_at: new Date(this.#runtime.store.now()) },
      $inc: { routing_version: 1 },
    };
    const own = { _id, status: "importing" as const, export_id };
    const { status, slug } = await changeRouting(ctx, _id, "agent *", async () =>
      requireFound(await this.#tenants.update(_id, own, change), "tenant", _id),
    );
    await announce(ctx, _id);
    return { status, slug, done: true };
  }
}

function boxOf(key: string | null | undefined): SecretBox | null {
  return key ? new SecretBox(Buffer.from(key, "base64")) : null;
}

/** @throws Fault the given one, which names the row, if a secret does not open */
function opened<T>(task: () => T, closed: () => Fault): T {
  try {
    return task();
  } catch (err) {
    throw err instanceof SecretError ? closed() : err;
  }
}

function hashesIn({ blobs = [], namedBlobs = [] }: MovedModel, row: TenantDocument): string[] {
  const fields = row as unknown as Record<string, string | string[] | null | undefined>;
  return [...blobs, ...namedBlobs].flatMap((field) => fields[field] ?? []);
}

function missing(hash: string) {
  return (err: unknown): never => {
    throw err instanceof BlobMissing ? notFound("content", hash) : err;
  };
}

function nullIfMissing(err: unknown): null {
  if (err instanceof BlobMissing) return null;
  throw err;
}

function slugTaken(slug: string): Fault {
  const message = `The slug "${slug}" is taken here by another tenant. Choose another.`;
  return conflict(message, { field: "slug" });
}
