import { listNodes } from "../../../lib/broker/every-node.ts";
import { Fault, invalidValue, notFound, requireFound } from "../../../lib/contract/faults.ts";
import { SecretBox, SecretError } from "../../../lib/crypto/secrets.ts";
import { BlobWrite } from "../../../storage/blobs/blobs.ts";
import { BlobMissing } from "../../../storage/blobs/hash.ts";
import type { TenantCollection, TenantDocument } from "../../../storage/collection.ts";
import { DUPLICATE_KEY, nullIfTaken, refusedRows } from "../../../storage/write-errors.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import type * as contract from "./moving.contract.ts";
import {
  type Exported,
  exportRow,
  isSameRow,
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
const OPEN = { $in: [...HELD.$in, "importing" as const] };

/**
 * Exports and imports tenants, a page of rows or a part of a content at a time (docs/decisions/0065-moving.md). Every
 * request can be repeated: an import adds what is missing and changes nothing.
 */
export class Moving {
  readonly #runtime: Runtime;
  readonly #tenants: TenantCollection<TenantDoc>;
  #collections: Promise<Map<string, TenantCollection<TenantDocument>>> | undefined;

  constructor(runtime: Runtime, tenants: TenantCollection<TenantDoc>) {
    this.#runtime = runtime;
    this.#tenants = tenants;
  }

  async beginExport({ params: { tenant_id } }: CallOf<typeof contract.beginExport>) {
    const { slug, name, created_at } = await this.#require(tenant_id, HELD);
    const { quota_mb: storage_quota_mb } = await this.#runtime.usage.of(tenant_id);
    return {
      tenant: { id: tenant_id, slug, name, storage_quota_mb, created_at: created_at.toISOString() },
      collections: MOVED.map((model) => model.name),
    };
  }

  async exportRows({ params }: CallOf<typeof contract.exportRows>) {
    const { tenant_id, collection, after, key } = params;
    await this.#require(tenant_id, HELD);
    const { model, rows } = await this.#collection(collection);
    const { rows: found, more } = await rows.findWithin(tenant_id, after ? { _id: { $gt: after } } : {}, {
      ...{ sort: { _id: 1 }, limit: PAGE, bytes: PAGE_BYTES },
    });
    const boxes = { own: this.#runtime.secrets, portable: boxOf(key) };
    const exported = found.map((row) => exportRow(model, row, boxes));
    const isLast = !more && found.length < PAGE;
    return {
      rows: exported.join(""),
      count: exported.length,
      blobs: [...new Set(found.flatMap((row) => hashesIn(model, row)))],
      next: isLast ? null : (found.at(-1) as TenantDocument)._id,
    };
  }

  async exportContent({ params: { tenant_id, hash, from = 0 } }: CallOf<typeof contract.exportContent>) {
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

  /** @throws Fault conflict if the slug is taken, or the tenant is being erased or imported from another file */
  async importTenant(ctx: CallOf<typeof contract.importTenant>) {
    const { tenant, export_id, complete } = ctx.params;
    const there = (await this.#tenants.findOne(tenant.id, { _id: tenant.id })) ?? (await this.#create(ctx));
    const { status, slug } = there.status === "erased" ? await this.#readmit(ctx, there) : there;
    if (status !== "importing") {
      if (status === "active" || status === "suspended") return { status, slug };
      throw new Fault("conflict", `The tenant is ${status} here. Retry when that has ended.`);
    }
    if (there.status === status && there.export_id !== export_id)
      throw new Fault(
        "conflict",
        `The tenant ${slug} is being imported from another file. Complete that import, or erase the tenant first.`,
      );
    return complete ? this.#open(ctx) : { status, slug };
  }

  async importRows(ctx: CallOf<typeof contract.importRows>) {
    const { tenant_id, collection, key, rows: text } = ctx.params;
    const { status } = await this.#require(tenant_id, OPEN);
    const { model, rows } = await this.#collection(collection);
    const given = readRows(tenant_id, text);
    const boxes = { own: this.#runtime.secrets, portable: boxOf(key) };
    const ids = given.map(({ _id }) => _id);
    const isNew = status === "importing";
    const refused: { id: string; reason: string }[] = [];
    const there = await this.#existing(rows, tenant_id, ids, isNew);
    // The rows of an unfinished import have no other origin: only background work can have changed them.
    const differ = (row: Exported) =>
      !isNew && !isSameRow(model, there.get(row._id) as TenantDocument, row, boxes);
    for (const row of given.filter(({ _id }) => there.has(_id)))
      if (differ(row)) refused.push({ id: row._id, reason: "exists with other contents" });
    const now = new Date(this.#runtime.store.now());
    const fresh = given
      .filter(({ _id }) => !there.has(_id))
      .map((row) => opened(() => toImport(model, row, boxes, now)));
    const added = fresh.flatMap(({ row }) => row ?? []);
    const taken = await this.#insert(rows, tenant_id, added);
    refused.push(...taken.map((id) => ({ id, reason: "has an id or a unique field that another row has" })));
    if (!isNew && added.length > taken.length) await this.#renewRouting(ctx, tenant_id, {});
    return {
      added: added.length - taken.length,
      same: there.size - (refused.length - taken.length),
      left_out: fresh.length - added.length,
      refused,
      unset: fresh.flatMap(({ row, isUnset }) => (row && isUnset ? `${collection}/${row._id}` : [])),
    };
  }

  async importContent({ params }: CallOf<typeof contract.importContent>) {
    const { tenant_id, content, parts, hash } = params;
    const { blobs } = this.#runtime;
    await this.#require(tenant_id, OPEN);
    if (content === undefined && parts === undefined) {
      if (hash === undefined) throw invalidValue("content", "content, parts or hash is required.");
      const found = await blobs.stream(tenant_id, hash).catch(nullIfMissing);
      found?.destroy();
      return { hash: found && hash };
    }
    const write = new BlobWrite(tenant_id);
    const bytes =
      content === undefined ? this.#joined(tenant_id, parts ?? []) : Buffer.from(content, "base64");
    const ref = await blobs.put(write, bytes);
    // Not released: its row follows, and a sweep leaves it until then.
    await blobs.end(write);
    if (parts) await blobs.release(tenant_id, parts);
    return { hash: ref.hash };
  }

  async *#joined(tenant_id: string, parts: string[]): AsyncGenerator<Buffer> {
    for (const part of parts) yield* await this.#runtime.blobs.stream(tenant_id, part).catch(missing(part));
  }

  async #require(tenant_id: string, status: typeof HELD | typeof OPEN): Promise<TenantDoc> {
    return requireFound(
      await this.#tenants.findOne(tenant_id, { _id: tenant_id, status }),
      "tenant",
      tenant_id,
    );
  }

  /** Returns a collection that moves. All are opened at the first call, because only some nodes need them. */
  async #collection(name: string): Promise<{ model: MovedModel; rows: TenantCollection<TenantDocument> }> {
    this.#collections ??= this.#openAll().catch((err) => {
      this.#collections = undefined;
      throw err;
    });
    const rows = (await this.#collections).get(name);
    if (!rows) throw invalidValue("collection", `"${name}" is no collection that moves with a tenant.`);
    return { model: MOVED.find((model) => model.name === name) as MovedModel, rows };
  }

  async #openAll() {
    const { store } = this.#runtime;
    const opened = new Map(MOVED.map((model) => [model.name, store.collection(model)]));
    await store.ready();
    return opened;
  }

  async #existing(
    rows: TenantCollection<TenantDocument>,
    tenant_id: string,
    ids: string[],
    onlyIds: boolean,
  ): Promise<Map<string, TenantDocument>> {
    const options = { bytes: Number.POSITIVE_INFINITY, ...(onlyIds && { projection: { _id: 1 } }) };
    const found = await rows.findEach(tenant_id, ids, options);
    return new Map(found.map((row) => [row._id, row]));
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
      const there = await this.#existing(rows, tenant_id, ids, true);
      return ids.filter((id) => !there.has(id));
    }
  }

  async #create(ctx: CallOf<typeof contract.importTenant>): Promise<TenantDoc> {
    const { tenant, export_id } = ctx.params;
    const { id: _id, slug, name, created_at } = tenant;
    const row: TenantDoc = {
      ...{ _id, tenant_id: _id, slug, name, status: "importing", export_id, routing_version: 1 },
      ...{ created_at: new Date(created_at), updated_at: new Date(this.#runtime.store.now()) },
    };
    if (!(await this.#tenants.insert(row).catch(nullIfTaken))) throw slugTaken(slug);
    await this.#runtime.usage.setQuota(_id, tenant.storage_quota_mb);
    return row;
  }

  /** Imports a tenant that was erased here. Its row has counted versions on, so that no old token counts again. */
  async #readmit(
    ctx: CallOf<typeof contract.importTenant>,
    { _id, erase_due_at }: TenantDoc,
  ): Promise<TenantDoc> {
    const { tenant, export_id } = ctx.params;
    const { slug, name, created_at } = tenant;
    if (erase_due_at)
      throw new Fault("conflict", "The tenant was erased here just now. Retry in two minutes.");
    if (listNodes(ctx.broker, "search.readmit_tenant").length)
      await ctx.call("search.readmit_tenant", { tenant_id: _id });
    const $set = { slug, name, created_at: new Date(created_at), status: "importing" as const, export_id };
    const $inc = { routing_version: 1, token_version: 1 };
    const written = this.#tenants.update(_id, { _id, status: "erased" }, { $set, $inc }).catch(nullIfTaken);
    const row = await written;
    if (!row) throw slugTaken(slug);
    await this.#runtime.usage.setQuota(_id, tenant.storage_quota_mb);
    return row;
  }

  async #open(ctx: CallOf<typeof contract.importTenant>) {
    const { tenant } = ctx.params;
    const row = await this.#renewRouting(ctx, tenant.id, {
      $set: { status: "active" },
      $unset: { export_id: 1 },
    });
    await announce(ctx, tenant.id);
    return { status: row.status, slug: row.slug };
  }

  /** Has every routing table read anew: no list of changes leads to it. */
  #renewRouting(
    ctx: CallOf<typeof contract.importRows | typeof contract.importTenant>,
    tenant_id: string,
    more: Renewal,
  ) {
    const $set = { ...more.$set, routing_changes: [], updated_at: new Date(this.#runtime.store.now()) };
    return changeRouting(ctx, tenant_id, "agent *", async () =>
      requireFound(
        await this.#tenants.update(
          tenant_id,
          { _id: tenant_id },
          { ...more, $set, $inc: { routing_version: 1 } },
        ),
        "tenant",
        tenant_id,
      ),
    );
  }
}

interface Renewal {
  $set?: Partial<TenantDoc>;
  $unset?: { export_id: 1 };
}

function boxOf(key: string | null | undefined): SecretBox | null {
  return key ? new SecretBox(Buffer.from(key, "base64")) : null;
}

/** @throws Fault validation_failed if a secret does not open with the key */
function opened<T>(task: () => T): T {
  try {
    return task();
  } catch (err) {
    if (!(err instanceof SecretError)) throw err;
    throw invalidValue("key", "key: the secrets were encrypted with another one.");
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
  return new Fault("conflict", message, { field: "slug" });
}
