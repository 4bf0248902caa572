import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import type { BlobReference } from "../../../lib/contract/contract.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { MOST_LISTED } from "../../../lib/contract/schema.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { newUuid } from "../../../lib/ids.ts";
import type { Blobs } from "../../../storage/blobs/blobs.ts";
import type { Store } from "../../../storage/connection.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./exemplars.contract.ts";
import { MAX_CONTENT } from "./exemplars.contract.ts";
import { type ExemplarDoc, ExemplarModel } from "./exemplars.model.ts";

/** An interrupted deletion no longer counts after this long. */
const DELETION_MS = 60_000;

interface Referrer {
  resource_type: "run" | "process_template";
  /** Of a template its slug. */
  resource_id: string;
}

type Asked = Call<{ exemplar_id: string }>;

/** The rows of exemplars, whose texts are blobs. */
export class Exemplars {
  readonly #rows;
  readonly #now;
  readonly #blobs: Blobs;

  constructor(store: Store, blobs: Blobs) {
    this.#rows = store.collection(ExemplarModel);
    this.#now = store.now;
    this.#blobs = blobs;
  }

  /** Creates an exemplar; answers 200 with the existing one of the same text. */
  async create({ params, meta }: CallOf<typeof contract.createExemplar>) {
    const { display_name, filename: original_filename, content } = params;
    requireSize(content);
    const { tenant_id } = meta.caller;
    const at = new Date(this.#now());
    const row: ExemplarDoc = {
      ...{ _id: newUuid(meta.idempotency_seed), tenant_id, display_name, original_filename },
      media_type: /\.md$/i.test(original_filename) ? "text/markdown" : "text/plain",
      ...{ byte_size: content.size, content_hash: content.hash, deleting_at: null },
      ...{ created_at: at, updated_at: at },
    };
    const made = await this.#rows.insertOnce(row).catch(nullIfTaken);
    if (made) return this.#presentWhole(made);
    const kept = await this.#rows.findOne(tenant_id, { content_hash: content.hash });
    if (!kept) throw new Fault("conflict", "The same text was deleted concurrently. Retry.");
    meta.$statusCode = 200;
    return this.#presentWhole(kept);
  }

  async list({ params, meta }: CallOf<typeof contract.listExemplars>) {
    const newestFirst = { created_at: -1, _id: -1 } as const;
    const { limit = MOST_LISTED } = params;
    const page = await this.#rows.page(meta.caller.tenant_id, {}, newestFirst, { ...params, limit });
    meta.$responseHeaders = { "X-Total-Count": String(page.total) };
    return page.rows.map((doc) => present(doc, null));
  }

  async get(ctx: Asked) {
    const shown = await this.#presentWhole(await this.#require(ctx));
    ctx.meta.$statusCode = 200;
    return shown;
  }

  async rename({ params, meta }: CallOf<typeof contract.renameExemplar>) {
    const { exemplar_id, display_name } = params;
    const $set = { display_name, updated_at: new Date(this.#now()) };
    const doc = await this.#rows.update(meta.caller.tenant_id, { _id: exemplar_id }, { $set });
    if (!doc) throw notFound("exemplar", exemplar_id);
    return this.#presentWhole(doc);
  }

  /** @throws Fault not_found, conflict if something refers to it */
  async delete(ctx: Asked): Promise<void> {
    const { tenant_id, _id } = await this.#require(ctx);
    // Marked before looking for referrers, so that no new ones appear in between.
    await this.#rows.update(tenant_id, { _id }, { $set: { deleting_at: new Date(this.#now()) } });
    const referrers = await findReferrers(ctx, tenant_id, _id);
    if (referrers.length === 0) {
      await this.#rows.delete(tenant_id, { _id });
      return;
    }
    await this.#rows.update(tenant_id, { _id }, { $set: { deleting_at: null } });
    throw referredTo(_id, referrers);
  }

  /** Returns what refers to it. @throws Fault not_found */
  async referrers(ctx: Asked): Promise<Referrer[]> {
    const { tenant_id, _id } = await this.#require(ctx);
    return findReferrers(ctx, tenant_id, _id);
  }

  async download(ctx: Asked): Promise<string> {
    const doc = await this.#require(ctx);
    ctx.meta.$responseType = `${doc.media_type}; charset=utf-8`;
    ctx.meta.$responseHeaders = attachment(doc.original_filename);
    return this.#textOf(doc);
  }

  async exists(tenant_id: string, exemplar_id: string): Promise<boolean> {
    const doc = await this.#rows.findOne(tenant_id, { _id: exemplar_id });
    return doc !== null && (doc.deleting_at?.getTime() ?? 0) < this.#now() - DELETION_MS;
  }

  async #require({ params: { exemplar_id }, meta }: Asked): Promise<ExemplarDoc> {
    const doc = await this.#rows.findOne(meta.caller.tenant_id, { _id: exemplar_id });
    if (!doc) throw notFound("exemplar", exemplar_id);
    return doc;
  }

  async #presentWhole(doc: ExemplarDoc) {
    return present(doc, await this.#textOf(doc));
  }

  async #textOf({ tenant_id, content_hash }: ExemplarDoc): Promise<string> {
    return (await this.#blobs.get(tenant_id, content_hash)).toString("utf8");
  }
}

function requireSize({ size }: BlobReference): void {
  if (size > MAX_CONTENT) {
    const message = `content: expected at most ${MAX_CONTENT} bytes of UTF-8, got ${size}.`;
    throw new Fault("payload_too_large", message, { actual_size: size, max_size: MAX_CONTENT });
  }
  if (size > 0) return;
  const expected = "text that is not empty";
  const details = { field: "content", value: "", expected, example: "# Release note\n" };
  throw new Fault("validation_failed", `content: expected ${expected}.`, details);
}

async function findReferrers(
  ctx: RequestContext,
  tenant_id: string,
  exemplar_id: string,
): Promise<Referrer[]> {
  const [{ attached, pointing }, templates] = await Promise.all([
    ctx.call<{ attached: string[]; pointing: string[] }, object>("runs.exemplar_referrers", {
      tenant_id,
      exemplar_id,
    }),
    ctx.call<string[], object>("templates.pointing_at", { tenant_id, native_id: exemplar_id }),
  ]);
  return [
    ...[...new Set([...attached, ...pointing])].map((id) => ({
      resource_type: "run" as const,
      resource_id: id,
    })),
    ...templates.map((slug) => ({ resource_type: "process_template" as const, resource_id: slug })),
  ];
}

function referredTo(_id: string, referrers: readonly Referrer[]): Fault {
  const named = referrers
    .map(({ resource_type, resource_id }) => `${resource_type} ${resource_id}`)
    .join(", ");
  return new Fault(
    "conflict",
    `The exemplar is in use by ${named}. It can be deleted only while nothing refers to it.`,
    {
      existing_resource_id: _id,
      referrers,
    },
  );
}

function present(doc: ExemplarDoc, extracted_text: string | null) {
  const { _id, display_name, original_filename, media_type, byte_size, created_at, updated_at } = doc;
  return {
    ...{ id: _id, display_name, original_filename, media_type, byte_size },
    ...{ extraction_status: "ready" as const, extracted_text, extraction_error: null },
    ...{ created_at: created_at.toISOString(), updated_at: updated_at.toISOString() },
  };
}
