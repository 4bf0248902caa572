import type { Meta, RequestContext } from "../../../lib/access/caller.ts";
import type { ParamsOf, TextPart } from "../../../lib/contract/contract.ts";
import { defined } from "../../../lib/defined.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { AuditBeginning, AuditSettlement } from "../../../middlewares/audit.ts";
import { deletion } from "../../../mixins/due.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { Where } from "../../../storage/query.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { exportAuditRecords, listAuditRecords } from "./audit.contract.ts";
import { type AuditDoc, AuditModel } from "./audit.model.ts";

/** An action to record; the actor is the caller's token, unless the record names one. */
export interface AuditRecord
  extends Partial<AuditBeginning>,
    Partial<Pick<AuditDoc, "actor_kind" | "actor_id" | "outcome" | "error" | "ip">> {
  tenant_id: string;
  action: string;
  /** The same text is recorded once. */
  dedupe?: string;
}

const SWEEP_MS = 10 * 60_000;

/** The audit log. Entries are written by middlewares/audit.ts, and by `record`. */
export const auditService: ServiceFactory = ({ store, config }) => {
  const entries = store.collection(AuditModel);
  const now = () => new Date(store.now());

  const before = () => store.now() - config.AUDIT_DAYS * DAY_MS;
  const removeOld = deletion({ rows: entries, by: "at", now: before });

  return {
    name: "audit",
    mixins: [new SharedLoop("sweep", removeOld, SWEEP_MS).mixin],
    actions: {
      list: action(listAuditRecords, async ({ params, meta }) => {
        const { limit = 50, cursor } = params;
        const order = { by: "at", cursor, limit } as const;
        const { page, next_cursor } = await entries.pageAfter(meta.caller.tenant_id, toFilter(params), order);
        return { entries: page.map(present), next_cursor };
      }),

      export: action(exportAuditRecords, (ctx) => beginExport(entries, ctx)),
      /** Continues an export; called by the gateway for a caller that `export` has admitted. */
      export_next: idempotent<ExportQuery>((ctx) => nextPart(entries, ctx)),

      /** Records that an action is about to happen; returns the entry's id. */
      begin: internal<AuditBeginning>(async ({ params, meta }) => {
        const row = newEntry(params, meta, { _id: newId("aud"), at: now(), outcome: "begun" });
        return (await entries.insert(row))._id;
      }),

      /** Records its outcome. */
      settle: {
        ...idempotent<AuditSettlement>(async ({ params }) => {
          const { tenant_id, id, outcome, resource_id, error, details } = params;
          const text = details && JSON.stringify(details);
          const $set = { outcome, ...defined({ resource_id, error, details: text }) };
          await entries.update(tenant_id, { _id: id }, { $set });
        }),
        changes: "audit",
      },

      /** Records a finished action in one write. */
      record: {
        ...internal<AuditRecord>(async ({ params, meta }) => {
          const { tenant_id, action: what, dedupe, outcome = "done" } = params;
          const { actor_kind, actor_id, error, ip } = params;
          const _id = dedupe ? derivedId("aud", tenant_id, what, dedupe) : newId("aud");
          const row = newEntry(params, meta, { _id, at: now(), outcome });
          await entries.insertOnce({ ...row, ...defined({ actor_kind, actor_id, error, ip }) });
        }),
        changes: "audit",
      },
    },
  };
};

type Noted = Partial<AuditBeginning> & Pick<AuditBeginning, "tenant_id" | "action">;

/** Creates an entry for an action of the caller of `meta`. */
function newEntry(
  noted: Noted,
  meta: Partial<Meta>,
  known: Pick<AuditDoc, "_id" | "at" | "outcome">,
): AuditDoc {
  return {
    ...known,
    tenant_id: noted.tenant_id,
    action: noted.action,
    ...toActor(meta),
    resource_type: noted.resource_type ?? null,
    resource_id: noted.resource_id ?? null,
    request_id: meta.request_id ?? null,
    ip: meta.ip ?? null,
    error: null,
    details: JSON.stringify(noted.details ?? {}),
  };
}

/** Returns the actor: without a caller a request is the operator's; without a request it is a service. */
function toActor({ caller, request_id }: Partial<Meta>): Pick<AuditDoc, "actor_kind" | "actor_id"> {
  if (caller?.kind === "agent") return { actor_kind: "agent", actor_id: caller.agent_id };
  if (caller) return { actor_kind: "user", actor_id: caller.user_id };
  return { actor_kind: request_id ? "operator" : "service", actor_id: null };
}

/** The filter of a list. */
type AuditQuery = Omit<ParamsOf<typeof listAuditRecords>, "limit" | "cursor">;

function toFilter(params: AuditQuery): Where<AuditDoc> {
  const { action, actor_id, resource_type, resource_id, outcome, since, until } = params;
  const at = { ...(since && { $gte: new Date(since) }), ...(until && { $lt: new Date(until) }) };
  return {
    ...defined({ action, actor_id, resource_type, resource_id, outcome }),
    ...(Object.keys(at).length && { at }),
  };
}

/** Formats an entry for admins. */
function present({ _id, tenant_id, at, details, ...rest }: AuditDoc) {
  return { id: _id, at: at.toISOString(), ...rest, details: JSON.parse(details) as Record<string, unknown> };
}

type ExportQuery = ParamsOf<typeof exportAuditRecords> & { cursor?: string };
type Entry = ReturnType<typeof present>;
type ExportCall = RequestContext & { params: ExportQuery };

interface Named {
  id: string;
  name: string;
}

/** Entries per part: a message between nodes is limited. */
const PART = 500;

const TYPES = { csv: "text/csv; charset=utf-8", ndjson: "application/x-ndjson; charset=utf-8" };

const COLUMNS = [
  ...["at", "actor_name", "actor_kind", "actor_id", "action", "outcome", "error"],
  ...["resource_type", "resource_id", "ip", "request_id", "details", "id"],
] as const;

/** Begins an export: the first part, with the header of a CSV file. */
async function beginExport(entries: TenantCollection<AuditDoc>, ctx: ExportCall): Promise<TextPart> {
  const { format = "csv" } = ctx.params;
  ctx.meta.$responseType = TYPES[format];
  ctx.meta.$responseHeaders = attachment(`audit.${format}`);
  const part = await nextPart(entries, ctx);
  return format === "csv" ? { ...part, text: csvRow([...COLUMNS]) + part.text } : part;
}

async function nextPart(entries: TenantCollection<AuditDoc>, ctx: ExportCall): Promise<TextPart> {
  const { format = "csv", cursor, ...query } = ctx.params;
  const order = { by: "at", cursor, limit: PART } as const;
  const { page, next_cursor } = await entries.pageAfter(ctx.meta.caller.tenant_id, toFilter(query), order);
  const names = await actorNames(ctx, page);
  const lineOf = (entry: Entry) => {
    const actor_name = entry.actor_id === null ? null : (names.get(entry.actor_id) ?? null);
    return format === "csv"
      ? toCsv({ ...entry, actor_name })
      : `${JSON.stringify({ ...entry, actor_name })}\n`;
  };
  return { text: page.map((doc) => lineOf(present(doc))).join(""), next: next_cursor };
}

function toCsv(entry: Entry & { actor_name: string | null }): string {
  const cells = { ...entry, details: JSON.stringify(entry.details) };
  return csvRow(COLUMNS.map((column) => cells[column as keyof typeof cells & string]));
}

/** Returns the names of the agents and people that still exist. */
async function actorNames(ctx: RequestContext, entries: readonly AuditDoc[]): Promise<Map<string, string>> {
  const { tenant_id } = ctx.meta.caller;
  const idsOf = (kind: AuditDoc["actor_kind"]) => [
    ...new Set(
      entries.flatMap(({ actor_kind, actor_id }) => (actor_kind === kind && actor_id ? [actor_id] : [])),
    ),
  ];
  const [agents, people] = await Promise.all([
    ctx.call<Named[], object>("agents.get_many", { tenant_id, agent_ids: idsOf("agent") }),
    ctx.call<Named[], object>("users.names", { tenant_id, user_ids: idsOf("user") }),
  ]);
  return new Map([...agents, ...people].map(({ id, name }) => [id, name]));
}

/** Beginnings that spreadsheets take for a formula, also behind spaces. */
const FORMULA = /^\s*[=+\-@\t\r]/;

/**
 * Formats a row of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front, as
 * OWASP advises.
 */
export function csvRow(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => quoted(cell ?? "")).join()}\r\n`;
}

function quoted(cell: string): string {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
