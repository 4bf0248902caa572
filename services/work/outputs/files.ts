import type { ActionSchema } from "moleculer";
import { type Call, callerId } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { Fault, notFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { attachment, safeFilename } from "../../../lib/http/attachment.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import type { Share } from "../../../lib/queue/fair-queue.ts";
import { account } from "../../../mixins/audited.ts";
import { resourceQueue } from "../../../observability/resources.ts";
import { action, type Runtime } from "../../runtime.ts";
import { EXPORT_TYPES, emailOutput, exportOutput } from "./files.contract.ts";
import { MailBudget } from "./mail-budget.ts";
import { sendMail } from "./mailer.ts";
import { MailBudgetModel } from "./mails.model.ts";
import type { ExportFormat } from "./outputs.contract.ts";
import type { OutputDoc } from "./outputs.model.ts";
import { findReadable, type Parts } from "./parts.ts";
import { render } from "./render/render.ts";

/** Rendered and mailed texts are held in memory whole. */
const MOST_BYTES = 4_194_304;

/** Mails are held in memory until the server accepts them. */
const mailing = resourceQueue("mail", {
  ...{ capacity: 8, perTenant: 4, perCaller: 2, maxWaiting: 32, patienceMs: 8000 },
});

const shareOf = ({ meta: { caller } }: Call): Share => ({
  tenant_id: caller.tenant_id,
  caller: callerId(caller),
});

/** Actions that deliver outputs as files and by e-mail. */
export function fileActions(parts: Parts, { config, store }: Runtime): Record<string, ActionSchema> {
  const { OUTPUT_EXPORT, EXPORT_FONTS: fonts, OUTBOUND_EMAIL, SMTP_URL, SMTP_FROM } = config;
  const budget = new MailBudget(store.collection(MailBudgetModel), config.OUTBOUND_EMAILS_PER_HOUR);

  function requireFormat(doc: OutputDoc, format: ExportFormat | undefined): void {
    if ((format === "pdf" || format === "docx") && !OUTPUT_EXPORT)
      throw notFound(`${format} of output`, doc._id);
  }

  async function fileOf(share: Share, doc: OutputDoc, format: ExportFormat): Promise<Buffer> {
    const { tenant_id, hash, title, saved_at: at } = doc;
    requireLength(doc, format);
    const bytes = await parts.blobs.get(tenant_id, hash);
    if (format === "md") return bytes;
    const rendering = { markdown: bytes.toString("utf8"), title, at, format, fonts };
    return Buffer.from(await render(rendering, share));
  }

  async function attached(share: Share, doc: OutputDoc, format: ExportFormat | undefined) {
    if (!format) return [];
    const content = await fileOf(share, doc, format);
    return [{ filename: filenameOf(doc, format), content, contentType: EXPORT_TYPES[format] }];
  }

  async function email(ctx: Call<ParamsOf<typeof emailOutput>>) {
    const { to, attach_format } = ctx.params;
    const { caller, idempotency_seed } = ctx.meta;
    const doc = await findReadable(parts, ctx as Call, ctx.params.output_id);
    if (!OUTBOUND_EMAIL) throw notFound("email of output", doc._id);
    requireFormat(doc, attach_format);
    if (!SMTP_URL || !SMTP_FROM) {
      const message = "Mail is not configured here: the operator sets SMTP_URL and SMTP_FROM.";
      throw new Fault("service_unavailable", message, { retry_after_seconds: 3600 });
    }
    requireLength(doc, "an e-mail");
    const share = shareOf(ctx as Call);
    await mailing.run(share, 1, async () => {
      const mail = {
        ...{ to, subject: ctx.params.subject ?? doc.title.replace(/\s+/g, " ") },
        text: (await fileOf(share, doc, "md")).toString("utf8"),
        html: (await fileOf(share, doc, "html")).toString("utf8"),
        attachments: await attached(share, doc, attach_format),
        messageId: messageId(SMTP_FROM, idempotency_seed && `${callerId(caller)} ${idempotency_seed}`),
      };
      await budget.take(caller.tenant_id, store.now());
      await sendMail({ url: SMTP_URL, from: SMTP_FROM }, mail);
    });
    account(ctx, { to, version_num: doc.version_num, attach_format: attach_format ?? null });
    return { status: "sent" as const, to };
  }

  return {
    export: action(exportOutput, async (ctx) => {
      const { output_id, format = "md" } = ctx.params;
      const doc = await findReadable(parts, ctx as Call, output_id);
      requireFormat(doc, format);
      ctx.meta.$responseType = EXPORT_TYPES[format];
      ctx.meta.$responseHeaders = attachment(filenameOf(doc, format));
      if (format === "md") return { hash: doc.hash, size: doc.byte_size };
      // Kept for an hour like any new blob: it may exceed a message between nodes.
      return parts.blobs.put(doc.tenant_id, await fileOf(shareOf(ctx as Call), doc, format));
    }),

    email: action(emailOutput, email),
  };
}

/** Replaces slashes: a title is not a path. */
function filenameOf({ title }: OutputDoc, format: ExportFormat): string {
  const beginning = title.slice(0, 100).replace(/[\ud800-\udbff]$/, "");
  return `${safeFilename(beginning.replace(/[/\\]/g, "_"))}.${format}`;
}

/** @param what the format, for the error message */
function requireLength({ byte_size }: OutputDoc, what: string): void {
  if (byte_size <= MOST_BYTES) return;
  const message = `A text of ${byte_size} bytes is too long for ${what}: at most ${MOST_BYTES}.`;
  throw ruleBroken("export_too_long", message);
}

/** Returns an id in the sender's domain. */
function messageId(from: string, seed: string | undefined): string {
  const domain = /@([^\s>]+)/.exec(from)?.[1] ?? "localhost";
  return `<${seed ? derivedId("evt", seed) : newId("evt")}@${domain}>`;
}
