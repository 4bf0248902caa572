import type { RequestContext } from "../../../lib/access/caller.ts";
import type { ParamsOf, TextPart } from "../../../lib/contract/contract.ts";
import { pageOf } from "../../../lib/contract/cursor.ts";
import { attachment } from "../../../lib/http/attachment.ts";
import { csvRow } from "../../../lib/text/csv.ts";
import type { TenantCollection } from "../../../storage/collection.ts";
import type { exportAudit } from "./audit.contract.ts";
import type { AuditDoc } from "./audit.model.ts";
import { present, toFilter } from "./entry.ts";

export type ExportQuery = ParamsOf<typeof exportAudit> & { cursor?: string };
type Entry = ReturnType<typeof present>;
type Asked = RequestContext & { params: ExportQuery };

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
export async function beginExport(entries: TenantCollection<AuditDoc>, ctx: Asked): Promise<TextPart> {
  const { format = "csv" } = ctx.params;
  ctx.meta.$responseType = TYPES[format];
  ctx.meta.$responseHeaders = attachment(`audit.${format}`);
  const part = await nextPart(entries, ctx);
  return format === "csv" ? { ...part, text: csvRow([...COLUMNS]) + part.text } : part;
}

/** Returns the part at the cursor. */
export async function nextPart(entries: TenantCollection<AuditDoc>, ctx: Asked): Promise<TextPart> {
  const { format = "csv", ...query } = ctx.params;
  const options = { sort: { at: -1, _id: -1 } as const, limit: PART + 1 };
  const found = await entries.findWithin(ctx.meta.caller.tenant_id, toFilter(query), options);
  const { page, next_cursor } = pageOf(found, PART, "at");
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
