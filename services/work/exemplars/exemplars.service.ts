import type { Static } from "typebox";
import { type Call, callerId, type RequestContext } from "../../../lib/access/caller.ts";
import type { BlobReference } from "../../../lib/contract/contract.ts";
import { conflict, Fault, requireFound } from "../../../lib/contract/faults.ts";
import { presentAs } from "../../../lib/contract/present-as.ts";
import { MOST_LISTED } from "../../../lib/contract/schema.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { newUuid } from "../../../lib/ids.ts";
import { nullIfTaken } from "../../../storage/write-errors.ts";
import { action, idempotent, type ServiceFactory } from "../../runtime.ts";
import * as contract from "./exemplars.contract.ts";
import { type ExemplarDoc, ExemplarModel } from "./exemplars.model.ts";

/** An interrupted deletion no longer counts after this long. */
const DELETION_MS = 60_000;

type ExemplarCall = Call<{ exemplar_id: string }>;

/** Stores whole reference documents, verbatim (spec: Exemplar). Their texts are blobs. */
export const exemplarsService: ServiceFactory = ({ store, blobs }) => {
  const rows = store.collection(ExemplarModel);
  const now = () => new Date(store.now());

  async function find({ params: { exemplar_id }, meta }: ExemplarCall): Promise<ExemplarDoc> {
    const doc = await rows.findOne(meta.caller.tenant_id, { _id: exemplar_id });
    return requireFound(doc, "exemplar", exemplar_id);
  }

  const textOf = async ({ tenant_id, content_hash }: ExemplarDoc) =>
    (await blobs.get(tenant_id, content_hash)).toString("utf8");
  const presentWhole = async (doc: ExemplarDoc) => present(doc, await textOf(doc));

  return {
    name: "exemplars",
    actions: {
      /** Answers 200 with the existing one of the same text. */
      create: action(contract.createExemplar, async ({ params, meta }) => {
        const { display_name, filename: original_filename, content } = params;
        requireSize(content);
        const { tenant_id } = meta.caller;
        const at = now();
        const row: ExemplarDoc = {
          ...{ _id: newUuid(meta.idempotency_seed), tenant_id, display_name, original_filename },
          media_type: /\.md$/i.test(original_filename) ? "text/markdown" : "text/plain",
          ...{ byte_size: content.size, content_hash: content.hash, deleting_at: null },
          ...{ created_by: callerId(meta.caller), created_at: at, updated_at: at },
        };
        const made = await rows.insertOnce(row).catch(nullIfTaken);
        if (made) return presentWhole(made);
        const kept = await rows.findOne(tenant_id, { content_hash: content.hash });
        if (!kept) throw conflict("The same text was deleted concurrently. Retry.");
        meta.$statusCode = 200;
        return presentWhole(kept);
      }),

      list: action(contract.listExemplars, async ({ params, meta }) => {
        const newestFirst = { created_at: -1, _id: -1 } as const;
        const { limit = MOST_LISTED } = params;
        const page = await rows.page(meta.caller.tenant_id, {}, newestFirst, { ...params, limit });
        meta.$responseHeaders = { "X-Total-Count": String(page.total) };
        return page.rows.map((doc) => present(doc, null));
      }),

      get: action(contract.getExemplar, async (ctx) => {
        const whole = await presentWhole(await find(ctx));
        ctx.meta.$statusCode = 200;
        return whole;
      }),

      rename: action(contract.renameExemplar, async ({ params, meta }) => {
        const { exemplar_id, display_name } = params;
        const $set = { display_name, updated_at: now() };
        const doc = await rows.update(meta.caller.tenant_id, { _id: exemplar_id }, { $set });
        return presentWhole(requireFound(doc, "exemplar", exemplar_id));
      }),

      delete: action(contract.deleteExemplar, async (ctx) => {
        const { tenant_id, _id } = await find(ctx);
        // Marked before looking for referrers, so that no new ones appear in between.
        await rows.update(tenant_id, { _id }, { $set: { deleting_at: now() } });
        const referrers = await findReferrers(ctx, tenant_id, _id);
        if (referrers.length === 0) {
          await rows.delete(tenant_id, { _id });
          return;
        }
        await rows.update(tenant_id, { _id }, { $set: { deleting_at: null } });
        throw referredTo(_id, referrers);
      }),

      download: action(contract.downloadExemplar, async (ctx) => {
        const doc = await find(ctx);
        ctx.meta.$responseType = `${doc.media_type}; charset=utf-8`;
        ctx.meta.$responseHeaders = attachment(doc.original_filename);
        return textOf(doc);
      }),

      referrers: action(contract.listExemplarReferrers, async (ctx) => {
        const { tenant_id, _id } = await find(ctx);
        return { referrers: await findReferrers(ctx, tenant_id, _id) };
      }),

      exists: idempotent<{ tenant_id: string; exemplar_id: string }>(async ({ params }) => {
        const doc = await rows.findOne(params.tenant_id, { _id: params.exemplar_id });
        return doc !== null && (doc.deleting_at?.getTime() ?? 0) < store.now() - DELETION_MS;
      }),
    },
  };
};

function requireSize({ size }: BlobReference): void {
  const { MAX_CONTENT } = contract;
  if (size > MAX_CONTENT) {
    const message = `content: expected at most ${MAX_CONTENT} bytes of UTF-8, got ${size}.`;
    throw new Fault("payload_too_large", message, { actual_size: size, max_size: MAX_CONTENT });
  }
  if (size > 0) return;
  const expected = "text that is not empty";
  const details = { field: "content", value: "", expected, example: "# Release note\n" };
  throw new Fault("validation_failed", `content: expected ${expected}.`, details);
}

type Referrer = Static<typeof contract.Referrer>;

async function findReferrers(
  ctx: RequestContext,
  tenant_id: string,
  exemplar_id: string,
): Promise<Referrer[]> {
  const [runs, templates] = await Promise.all([
    ctx.call<string[], object>("runs.exemplar_referrers", { tenant_id, exemplar_id }),
    ctx.call<string[], object>("templates.pointing_at", { tenant_id, native_id: exemplar_id }),
  ]);
  return [
    ...runs.map((resource_id) => ({ resource_type: "run" as const, resource_id })),
    ...templates.map((resource_id) => ({ resource_type: "process_template" as const, resource_id })),
  ];
}

function referredTo(_id: string, referrers: readonly Referrer[]): Fault {
  const named = referrers.map(({ resource_type, resource_id }) => `${resource_type} ${resource_id}`);
  const message = `The exemplar is in use by ${named.join(", ")}. It can be deleted only while nothing refers to it.`;
  return conflict(message, { existing_resource_id: _id, referrers });
}

const present = (doc: ExemplarDoc, extracted_text: string | null) =>
  presentAs(contract.Exemplar, doc, { extraction_status: "ready", extracted_text, extraction_error: null });
