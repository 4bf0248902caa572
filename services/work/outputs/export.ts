import { messageId, sendMail } from "../../../connectors/mail.ts";
import { callerId, type RequestContext } from "../../../lib/access/caller.ts";
import { Fault, ruleBroken } from "../../../lib/contract/faults.ts";
import { attachment, safeFilename } from "../../../lib/http/attachment.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { account } from "../../../middlewares/audit.ts";
import { BlobWrite } from "../../../storage/blobs/blobs.ts";
import { HourlyBudget } from "../../../storage/hourly-budget.ts";
import { outgoing, PER_TENANT } from "../../outgoing.ts";
import type { CallOf, Runtime } from "../../runtime.ts";
import { EXPORT_TYPES, type emailOutput, type exportOutput } from "./files.contract.ts";
import type { ExportFormat } from "./outputs.contract.ts";
import { MailBudgetModel, type OutputDoc } from "./outputs.model.ts";
import { findReadable, type Outputs } from "./outputs.ts";
import { type FileWriters, render } from "./render/render.ts";

/** Rendered and mailed texts are held in memory whole. */
const MOST_BYTES = 4_194_304;

/** Mails are held in memory until the server accepts them: a tenant sends four at once. */
const MAIL_COST = PER_TENANT / 4;
/** Together with the rendering time less than the timeout of a call between services. */
const MAIL_PATIENCE_MS = 8000;

/** Missing letters that a warning names. */
const NAMED = 5;

const TOO_MANY_MAILS = "The organisation has reached its limit of # e-mails per hour.";

/** Delivers outputs as files and by e-mail. */
export class OutputFiles {
  readonly #outputs: Outputs;
  readonly #config: Runtime["config"];
  readonly #budget: HourlyBudget;
  readonly #writers: FileWriters | undefined;

  constructor(outputs: Outputs, { config, store, hooks }: Runtime) {
    this.#writers = hooks.fileWriters;
    this.#outputs = outputs;
    this.#config = config;
    const mails = store.collection(MailBudgetModel);
    this.#budget = new HourlyBudget(mails, config.OUTBOUND_EMAILS_PER_HOUR, TOO_MANY_MAILS);
  }

  async export(ctx: CallOf<typeof exportOutput>) {
    const { output_id, format = "md" } = ctx.params;
    const doc = await findReadable(this.#outputs, ctx, output_id);
    this.#moduleOf(doc, format);
    ctx.meta.$responseType = EXPORT_TYPES[format];
    ctx.meta.$responseHeaders = attachment(filenameOf(doc, format));
    if (format === "md") return { hash: doc.hash, size: doc.byte_size };
    // A blob, because it may exceed a message between nodes. The gateway ends the write.
    const write = new BlobWrite(doc.tenant_id);
    const ref = await this.#outputs.blobs.put(write, await this.#render(ctx, doc, format));
    return { ...ref, write: write.id };
  }

  async email(ctx: CallOf<typeof emailOutput>) {
    const { to, attach_format: format, subject } = ctx.params;
    const { caller, idempotency_seed } = ctx.meta;
    const { OUTBOUND_EMAIL, SMTP_URL, SMTP_FROM } = this.#config;
    const doc = await findReadable(this.#outputs, ctx, ctx.params.output_id);
    if (!OUTBOUND_EMAIL) throw isOff("email of output", doc._id, "OUTBOUND_EMAIL=true");
    this.#moduleOf(doc, format);
    if (!SMTP_URL || !SMTP_FROM) {
      const message = "E-mail is not configured: the operator must set SMTP_URL and SMTP_FROM.";
      throw new Fault("service_unavailable", message, { retry_after_seconds: 3600 });
    }
    requireLength(doc, "an e-mail");
    const send = async () => {
      const text = async (as: "md" | "html") => (await this.#render(ctx, doc, as)).toString("utf8");
      const mail = {
        to,
        subject: subject ?? doc.title.replace(/\s+/g, " "),
        text: await text("md"),
        html: await text("html"),
        attachments: format ? [await this.#attachment(ctx, doc, format)] : [],
        messageId: messageId(SMTP_FROM, idempotency_seed && `${callerId(caller)} ${idempotency_seed}`),
      };
      await this.takeMail(caller.tenant_id);
      await sendMail({ url: SMTP_URL, from: SMTP_FROM }, mail);
    };
    const how = { queued: 1, patienceMs: MAIL_PATIENCE_MS, reserved: true };
    await outgoing.run(shareOf(ctx.meta.caller), MAIL_COST, send, how);
    account(ctx, { to, version_num: doc.version_num, attach_format: format ?? null });
    return { status: "sent" as const, to };
  }

  /** Takes an e-mail of the tenant's budget. @throws Fault rate_limited */
  takeMail(tenant_id: string): Promise<void> {
    return this.#budget.take(tenant_id, tenant_id, this.#outputs.now());
  }

  async #attachment(ctx: RequestContext, doc: OutputDoc, format: ExportFormat) {
    const content = await this.#render(ctx, doc, format);
    return { filename: filenameOf(doc, format), content, contentType: EXPORT_TYPES[format] };
  }

  async #render(ctx: RequestContext, doc: OutputDoc, format: ExportFormat): Promise<Buffer> {
    const { tenant_id, hash, title, saved_at: at } = doc;
    requireLength(doc, format);
    const bytes = await this.#outputs.blobs.get(tenant_id, hash);
    if (format === "md") return bytes;
    const markdown = bytes.toString("utf8");
    const { fonts = [] } = this.#writers ?? {};
    const rendering = { markdown, title, at, format, module: this.#moduleOf(doc, format), fonts };
    const { file, missing } = await render(rendering, shareOf(ctx.meta.caller));
    if (missing.length) {
      const boxes = missing
        .slice(0, NAMED)
        .map((letter) => `U+${letter.codePointAt(0)?.toString(16).toUpperCase()}`);
      const warning = `Boxes stand for letters that no font has (${boxes.join(" ")}); EXPORT_FONTS adds fonts`;
      ctx.meta.$responseHeaders = { ...ctx.meta.$responseHeaders, Warning: `299 sensorium "${warning}"` };
    }
    return Buffer.from(file);
  }

  /** Returns the module that writes a format; undefined for those of the core. @throws Fault if there is none now */
  #moduleOf({ _id }: OutputDoc, format: ExportFormat | undefined): string | undefined {
    if (format !== "pdf" && format !== "docx") return undefined;
    if (!this.#writers) throw isOff(`${format} of output`, _id, "the extension export");
    return this.#writers.moduleOf(format, _id);
  }
}

/** The fault of a function that the operator has not turned on. Only for callers who may read the output. */
function isOff(resource_type: string, resource_id: string, how: string): Fault {
  const message = `There is no ${resource_type} on this server: the operator turns it on with ${how}.`;
  return new Fault("not_found", message, { resource_type, resource_id });
}

/** Replaces slashes: a title is not a path. */
function filenameOf({ title }: OutputDoc, format: ExportFormat): string {
  const beginning = title.slice(0, 100).replace(/[\ud800-\udbff]$/, "");
  return `${safeFilename(beginning.replace(/[/\\]/g, "_"))}.${format}`;
}

/** @param what the format, for the error message */
function requireLength({ byte_size }: OutputDoc, what: string): void {
  if (byte_size <= MOST_BYTES) return;
  const message = `The text has ${byte_size} bytes; the limit for ${what} is ${MOST_BYTES}. Export it as Markdown instead.`;
  throw ruleBroken("export_too_long", message);
}
