import type { Meta } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { defined } from "../../../lib/defined.ts";
import type { AuditBeginning } from "../../../middlewares/audit.ts";
import type { Where } from "../../../storage/query.ts";
import type { listAuditRecords } from "./audit.contract.ts";
import type { AuditDoc } from "./audit.model.ts";

type Noted = Partial<AuditBeginning> & Pick<AuditBeginning, "tenant_id" | "action">;

/** Creates an entry for an action of the caller of `meta`. */
export function newEntry(
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

export function toFilter(params: AuditQuery): Where<AuditDoc> {
  const { action, actor_id, resource_type, resource_id, outcome, since, until } = params;
  const at = { ...(since && { $gte: new Date(since) }), ...(until && { $lt: new Date(until) }) };
  return {
    ...defined({ action, actor_id, resource_type, resource_id, outcome }),
    ...(Object.keys(at).length && { at }),
  };
}

/** Formats an entry for admins. Entries from before outcomes were recorded count as done. */
export function present({ _id, tenant_id, at, details, outcome = "done", error = null, ...rest }: AuditDoc) {
  const parsed = JSON.parse(details) as Record<string, unknown>;
  return { id: _id, at: at.toISOString(), ...rest, outcome, error, details: parsed };
}
