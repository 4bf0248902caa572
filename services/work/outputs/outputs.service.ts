import type { ActionSchema, ServiceBroker } from "moleculer";
import { messageId, sendMail } from "../../../connectors/mail.ts";
import { type Call, callerId, isAdmin, type RequestContext } from "../../../lib/access/caller.ts";
import { visibleTo } from "../../../lib/access/visibility.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import type { Order } from "../../../lib/contract/cursor.ts";
import { Fault, forbidden, requireFound, ruleBroken } from "../../../lib/contract/faults.ts";
import { canonicalTags, tagsOfQuery } from "../../../lib/contract/tags.ts";
import { attachment, safeFilename } from "../../../lib/http/attachment.ts";
import { shareOf } from "../../../lib/queue/fair-queue.ts";
import { account } from "../../../middlewares/audit.ts";
import { place, Queue } from "../../../mixins/queue.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { BlobWrite } from "../../../storage/blobs/blobs.ts";
import { HourlyBudget } from "../../../storage/hourly-budget.ts";
import type { SearchEntriesPage, SearchHit } from "../../../storage/search/entry.ts";
import type { SettleErased } from "../../erasers.ts";
import { ownerAccess } from "../../identity/agents/find-agent.ts";
import { outgoing, PER_TENANT } from "../../outgoing.ts";
import {
  type BundleCandidate,
  type BundleLeg,
  type BundleLegAnswer,
  createdWithin,
  nameLegs,
  searchBounds,
} from "../../remember/memories/for-bundle.ts";
import { changedAfter, toEntriesPage } from "../../remember/search/feed.ts";
import { recentShare } from "../../remember/search/ranking.ts";
import {
  action,
  type CallOf,
  event,
  idempotent,
  internal,
  type Runtime,
  type ServiceFactory,
} from "../../runtime.ts";
import { EXPORT_TYPES, emailOutput, exportOutput } from "./files.contract.ts";
import { Indexing } from "./indexing.ts";
import type { ExportFormat } from "./outputs.contract.ts";
import * as contract from "./outputs.contract.ts";
import {
  ChunkModel,
  MailBudgetModel,
  type OutputDoc,
  OutputModel,
  present,
  presentVersion,
  presentWhole,
  toEntry,
  VersionModel,
} from "./outputs.model.ts";
import { BRIEF, findReadable, findVersion, type Outputs } from "./outputs.ts";
import { type FileWriters, render } from "./render/render.ts";
import { saveOutput } from "./save.ts";
import { searchOutputs } from "./search.contract.ts";
import { findOutputs, loadPassages, search } from "./search.ts";

/** Interval for finding work that other nodes left, and retries. */
const LOOK_MS = 2000;

/** Saved documents with versions (spec: Output). */
export const outputsService: ServiceFactory = (runtime) => {
  const { store, blobs, config } = runtime;
  let broker: ServiceBroker;
  let indexing: Indexing;
  const loop = new SharedLoop("queue", () => indexing.work(), LOOK_MS);
  const outputs: Outputs = {
    rows: store.collection(OutputModel),
    versions: store.collection(VersionModel),
    chunks: store.collection(ChunkModel),
    ...{ blobs, now: store.now },
    settle: (doc) => indexing.settle(doc),
    nudge: () => void broker.broadcast("outputs.queued"),
  };
  const queue = new Queue(outputs.rows, store.now);
  const files = new OutputFiles(outputs, runtime);

  return {
    name: "outputs",
    mixins: [loop.mixin],
    actions: {
      save: action(contract.saveOutput, (ctx) => saveOutput(outputs, ctx, config.OUTPUT_BODY_MAX)),
      list: action(contract.listOutputs, (ctx) => listOutputs(outputs, ctx)),
      get: action(contract.getOutput, (ctx) => getOutput(outputs, ctx)),
      update: action(contract.updateOutput, (ctx) => updateOutput(outputs, ctx)),
      delete: action(contract.deleteOutput, (ctx) => deleteOutput(outputs, ctx)),
      list_versions: action(contract.listOutputVersions, (ctx) => listVersions(outputs, ctx)),
      get_version: action(contract.getOutputVersion, (ctx) => getVersion(outputs, ctx)),
      search: action(searchOutputs, (ctx) => search(outputs, ctx)),
      export: action(exportOutput, (ctx) => files.export(ctx)),
      email: action(emailOutput, (ctx) => files.email(ctx)),
      /** Takes one of the tenant's e-mails. @throws Fault rate_limited when none is left in this hour */
      take_mail: internal<{ tenant_id: string }>(({ params }) => files.takeMail(params.tenant_id)),
      settle_erased: idempotent<SettleErased>(({ params }) => indexing.settleErased(params)),
      ...internalActions(outputs),
    },

    events: {
      // All nodes take from the queue; only one looks without being told.
      "outputs.queued": event(() => loop.nudge()),
    },

    created() {
      broker = this.broker;
      indexing = new Indexing(outputs, queue, broker);
    },

    async started() {
      if (store.driver === "sqlite") await queue.reclaim();
    },
  };
};

/** Changes project and tags. @throws Fault not_found, forbidden, validation_error */
async function updateOutput(outputs: Outputs, ctx: CallOf<typeof contract.updateOutput>) {
  const { caller } = ctx.meta;
  const { output_id, project_id, tags } = ctx.params;
  const doc = await findReadable(outputs, ctx, output_id);
  const isRetagged = tags !== undefined && canonicalTags(tags).join() !== doc.tags.join();
  if (isRetagged && caller.kind === "agent")
    throw forbidden("Only people can set tags of outputs. Omit tags.");
  const changes = {
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(isRetagged && { tags: canonicalTags(tags) }),
  };
  const changed = Object.keys(changes).length ? await change(outputs, doc, changes) : doc;
  const { _id: id, ...after } = requireFound(changed, "output", output_id);
  return { id, project_id: after.project_id, tags: after.tags };
}

/** Hides an output; indexing removes it. @throws Fault not_found, forbidden */
async function deleteOutput(outputs: Outputs, ctx: Call<{ output_id: string }>): Promise<void> {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  if (!isAdmin(ctx.meta.caller) && !(await ownerAccess(ctx)).agent_ids.includes(doc.agent_id))
    throw forbidden("Only its owner and admins can delete an output. Ask one of them.");
  await change(outputs, doc, { deleted_at: new Date(outputs.now()) });
}

/** Changes fields other than the text, and queues the output for search. */
async function change(
  { rows, now, nudge }: Outputs,
  { tenant_id, _id }: OutputDoc,
  changes: Partial<OutputDoc>,
): Promise<OutputDoc | null> {
  const $set = { ...changes, updated_at: new Date(now()), queue: place(tenant_id, now()) };
  const changed = await rows.update(tenant_id, { _id, deleted_at: null }, { $set, $inc: { version: 1 } });
  nudge();
  return changed;
}

/** Actions for other domains. */
function internalActions(outputs: Outputs): Record<string, ActionSchema> {
  const { rows, chunks } = outputs;
  return {
    /** Returns readable outputs: the best matches of a query, or the latest. */
    for_bundle: idempotent<BundleLeg>(async (ctx): Promise<BundleLegAnswer> => {
      const { query, limit, project_id } = ctx.params;
      const { hits, degraded }: { hits: FoundOutput[]; degraded: string[] } =
        query === null
          ? { hits: await latest(outputs, ctx), degraded: [] }
          : await findOutputs(outputs, ctx, { query, limit, project_id, ...searchBounds(ctx.params) });
      const shown = hits.slice(0, limit);
      const texts = await loadPassages(outputs, ctx.meta.caller.tenant_id, shown);
      return { items: shown.map((hit) => toItem(hit, texts.get(hit.chunk_id) ?? "")), degraded };
    }),

    /** Returns which outputs the caller may read. */
    visible: idempotent<{ output_ids: string[] }>(async (ctx) => {
      const wanted = { _id: { $in: ctx.params.output_ids }, deleted_at: null };
      const filter = { ...wanted, ...visibleTo(await ownerAccess(ctx)) };
      const existing = await rows.find(ctx.meta.caller.tenant_id, filter, {
        projection: { _id: 1 } as const,
      });
      return existing.map(({ _id }) => _id);
    }),

    /** Serves search's catch-up: chunks in order of their last change, of one tenant or of all. */
    search_entries: idempotent<SearchEntriesPage>(async ({ params }) =>
      toEntriesPage(await changedAfter(chunks, params), toEntry),
    ),
  };
}

async function latest({ rows, now }: Outputs, ctx: Call<BundleLeg>): Promise<FoundOutput[]> {
  const { tenant_id } = ctx.meta.caller;
  const { project_id, limit } = ctx.params;
  const filter = {
    ...{ deleted_at: null, superseded_by: null },
    ...(project_id !== undefined && { project_id }),
    ...createdWithin(ctx.params),
    ...visibleTo(await ownerAccess(ctx)),
  };
  const sort = { created_at: -1, _id: -1 } as const;
  const existing = await rows.find(tenant_id, filter, { sort, limit, projection: BRIEF });
  const at = now();
  return existing.map((doc) => ({
    ...doc,
    score: recentShare(doc.created_at.getTime(), at),
    chunk_id: `${doc._id}/0`,
  }));
}

/** An output with the part of its text to show and, if search found it, the legs that did. */
type FoundOutput = OutputDoc & { score: number; chunk_id: string; sources?: SearchHit["sources"] };

function toItem(doc: FoundOutput, excerpt: string): BundleCandidate {
  const { _id, title, score, sources, scope, version_num, authored_by_agent_id, created_at } = doc;
  return {
    ...{ item_id: _id, title, excerpt, score, source: sources ? nameLegs(sources) : "recent" },
    ...{ by: authored_by_agent_id, created_at: created_at.toISOString() },
    facts: [`version ${version_num}, scope ${scope}`],
  };
}

type ListQuery = ParamsOf<typeof contract.listOutputs>;

/** Returns a page of the outputs that the caller may read. */
async function listOutputs({ rows: outputs }: Outputs, ctx: Call<ListQuery>) {
  const { tenant_id } = ctx.meta.caller;
  const { offset = 0, limit = 50, cursor } = ctx.params;
  const wanted = { ...buildFilter(ctx.params), ...visibleTo(await ownerAccess(ctx)) };
  const order = { ...buildOrder(ctx.params), cursor, skip: offset, limit };
  const [{ page, next_cursor }, total] = await Promise.all([
    outputs.pageAfter(tenant_id, wanted, order),
    outputs.count(tenant_id, wanted),
  ]);
  return { outputs: page.map(present), total, next_cursor };
}

function buildFilter({ scope, project_id, process_run_id, tags = [] }: ListQuery) {
  const wanted = tagsOfQuery(tags);
  return {
    deleted_at: null,
    ...(scope !== undefined && { scope }),
    ...(project_id !== undefined && { project_id: project_id || null }),
    ...(process_run_id && { process_run_id: process_run_id.toLowerCase() }),
    ...(wanted.length > 0 && { tags: { $in: wanted } }),
  };
}

function buildOrder({ sort, order }: ListQuery): Order<"created_at" | "title_key"> {
  const by = sort === "title" ? "title_key" : "created_at";
  const usual = by === "title_key" ? 1 : -1;
  return { by, sign: order === "asc" ? 1 : order === "desc" ? -1 : usual };
}

async function getOutput(outputs: Outputs, ctx: CallOf<typeof contract.getOutput>) {
  const { output_id, version } = ctx.params;
  const doc = await findReadable(outputs, ctx, output_id);
  return presentWhole(doc, version === undefined ? doc : await findVersion(outputs, doc, String(version)));
}

async function listVersions(outputs: Outputs, ctx: Call<{ output_id: string }>) {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  const filter = { output_id: doc._id, version_num: { $lt: doc.version_num } };
  const earlier = await outputs.versions.find(doc.tenant_id, filter, { sort: { version_num: -1 } });
  return { versions: [doc, ...earlier].map((each) => presentVersion(doc._id, each)) };
}

async function getVersion(outputs: Outputs, ctx: CallOf<typeof contract.getOutputVersion>) {
  const doc = await findReadable(outputs, ctx, ctx.params.output_id);
  const version = await findVersion(outputs, doc, ctx.params.version_num);
  return { ...presentVersion(doc._id, version), body: { hash: version.hash, size: version.byte_size } };
}

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
class OutputFiles {
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
