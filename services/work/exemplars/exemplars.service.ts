import type { Call } from "../../../lib/access/caller.ts";
import type { BlobReference } from "../../../lib/contract/contract.ts";
import { Fault, notFound } from "../../../lib/contract/faults.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { newUuid } from "../../../lib/ids.ts";
import { nullIfTaken } from "../../../storage/collection.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import {
  createExemplar,
  deleteExemplar,
  downloadExemplar,
  getExemplar,
  listExemplars,
  MAX_CONTENT,
  renameExemplar,
} from "./exemplars.contract.ts";
import { type ExemplarDoc, ExemplarModel } from "./exemplars.model.ts";

/** An interrupted deletion no longer counts after this long. */
const DELETION_MS = 60_000;

interface Referrers {
  attached: string[];
  pointing: string[];
  templates: string[];
}

/** Stores whole reference documents, verbatim (spec: Exemplar). */
export const exemplarsService: ServiceFactory = ({ store, blobs }) => {
  const exemplars = store.collection(ExemplarModel);
  const now = () => new Date(store.now());

  async function require({
    params: { exemplar_id },
    meta,
  }: Call<{ exemplar_id: string }>): Promise<ExemplarDoc> {
    const doc = await exemplars.findOne(meta.caller.tenant_id, { _id: exemplar_id });
    if (!doc) throw notFound("exemplar", exemplar_id);
    return doc;
  }

  async function textOf({ tenant_id, content_hash }: ExemplarDoc): Promise<string> {
    return (await blobs.get(tenant_id, content_hash)).toString("utf8");
  }

  async function referrersOf(ctx: Call, { tenant_id, _id }: ExemplarDoc): Promise<Referrers> {
    const [runs, templates] = await Promise.all([
      ctx.call<Omit<Referrers, "templates">, object>("runs.exemplar_referrers", {
        tenant_id,
        exemplar_id: _id,
      }),
      ctx.call<string[], object>("templates.pointing_at", { tenant_id, native_id: _id }),
    ]);
    return { ...runs, templates };
  }

  return {
    name: "exemplars",
    actions: {
      create: action(createExemplar, async ({ params: { display_name, filename, content }, meta }) => {
        requireSize(content);
        const { tenant_id } = meta.caller;
        const at = now();
        const row: ExemplarDoc = {
          ...{ _id: newUuid(meta.idempotency_seed), tenant_id, display_name, original_filename: filename },
          media_type: /\.md$/i.test(filename) ? "text/markdown" : "text/plain",
          ...{
            byte_size: content.size,
            content_hash: content.hash,
            deleting_at: null,
            created_at: at,
            updated_at: at,
          },
        };
        const made = await exemplars.insertOnce(row).catch(nullIfTaken);
        if (made) return present(made, await textOf(row));
        const kept = await exemplars.findOne(tenant_id, { content_hash: content.hash });
        if (!kept) throw new Fault("conflict", "The same text was deleted just now: send it again.");
        meta.$statusCode = 200;
        return present(kept, await textOf(kept));
      }),

      list: action(listExemplars, async ({ meta }) => {
        const docs = await exemplars.find(meta.caller.tenant_id, {}, { sort: { created_at: -1, _id: -1 } });
        return docs.map((doc) => present(doc, null));
      }),

      get: action(getExemplar, async (ctx) => {
        const doc = await require(ctx);
        ctx.meta.$statusCode = 200;
        return present(doc, await textOf(doc));
      }),

      rename: action(renameExemplar, async ({ params: { exemplar_id, display_name }, meta }) => {
        const $set = { display_name, updated_at: now() };
        const doc = await exemplars.update(meta.caller.tenant_id, { _id: exemplar_id }, { $set });
        if (!doc) throw notFound("exemplar", exemplar_id);
        return present(doc, await textOf(doc));
      }),

      delete: action(deleteExemplar, async (ctx) => {
        const doc = await require(ctx);
        const { tenant_id, _id } = doc;
        // Marked before looking for referrers, so that no new ones appear in between.
        await exemplars.update(tenant_id, { _id }, { $set: { deleting_at: now() } });
        const referrers = await referrersOf(ctx, doc);
        if (Object.values(referrers).every((those) => those.length === 0)) {
          await exemplars.delete(tenant_id, { _id });
          return;
        }
        await exemplars.update(tenant_id, { _id }, { $set: { deleting_at: null } });
        throw referredTo(_id, referrers);
      }),

      download: action(downloadExemplar, async (ctx) => {
        const doc = await require(ctx);
        ctx.meta.$responseType = `${doc.media_type}; charset=utf-8`;
        ctx.meta.$responseHeaders = attachment(doc.original_filename);
        return textOf(doc);
      }),

      /** Whether it exists and can be referred to. */
      exists: idempotent<{ tenant_id: string; exemplar_id: string }>(async ({ params }) => {
        const doc = await exemplars.findOne(params.tenant_id, { _id: params.exemplar_id });
        return doc !== null && (doc.deleting_at?.getTime() ?? 0) < store.now() - DELETION_MS;
      }),

      /** Returns which of the hashes exemplars name. */
      blob_references: idempotent<{ tenant_id: string; hashes: string[] }>(async ({ params }) => {
        const filter = { content_hash: { $in: params.hashes } };
        return (await exemplars.find(params.tenant_id, filter)).map(({ content_hash }) => content_hash);
      }),
    },
  };
};

function requireSize({ size }: BlobReference): void {
  if (size > MAX_CONTENT) {
    const message = `content: at most ${MAX_CONTENT} bytes of UTF-8, this is ${size}.`;
    throw new Fault("payload_too_large", message, { actual_size: size, max_size: MAX_CONTENT });
  }
  if (size > 0) return;
  const expected = "a text that is not empty";
  const details = { field: "content", value: "", expected, example: "# Release note\n" };
  throw new Fault("validation_failed", `content: expected ${expected}.`, details);
}

function referredTo(_id: string, { attached, pointing, templates }: Referrers): Fault {
  const referrers = [
    ...[...new Set([...attached, ...pointing])].map((id) => ({ resource_type: "run", resource_id: id })),
    ...templates.map((slug) => ({ resource_type: "process_template", resource_id: slug })),
  ];
  const named = referrers
    .map(({ resource_type, resource_id }) => `${resource_type} ${resource_id}`)
    .join(", ");
  return new Fault("conflict", `The exemplar is referred to by ${named}.`, {
    existing_resource_id: _id,
    referrers,
  });
}

function present(doc: ExemplarDoc, extracted_text: string | null) {
  const { _id, display_name, original_filename, media_type, byte_size, created_at, updated_at } = doc;
  return {
    ...{ id: _id, display_name, original_filename, media_type, byte_size },
    ...{ extraction_status: "ready" as const, extracted_text, extraction_error: null },
    ...{ created_at: created_at.toISOString(), updated_at: updated_at.toISOString() },
  };
}
