import type { ActionSchema, Middleware } from "moleculer";
import type { Call, Handler } from "../lib/access/caller.ts";
import { isAudited, type Operation, resourceOf } from "../lib/contract/contract.ts";
import { isFault } from "../lib/contract/faults.ts";
import { INSTALLATION, isUuid } from "../lib/ids.ts";

/** The entry before an audited operation. Ids and names of fields, never values. */
export interface AuditBeginning {
  tenant_id: string;
  action: string;
  resource_type: string;
  resource_id: string | null;
  details: Record<string, unknown>;
}

/** The outcome of an audited operation. */
export interface AuditSettlement {
  tenant_id: string;
  id: string;
  outcome: "done" | "refused" | "failed";
  resource_id?: string;
  /** The code of the fault. */
  error?: string;
  /** The complete details, if the handler added some. */
  details?: Record<string, unknown>;
}

/** Adds details to the audit entry of an operation when it ends. Never content, never a secret. */
export function account(ctx: Pick<Call, "locals">, details: Record<string, unknown>): void {
  ctx.locals.audit = details;
}

/** The parts of an action in the audit log (`ActionSchema.audit`). */
interface Audited {
  by: "operator" | "tenant";
  /** Names of the placeholders of its path and of the fields of its body. */
  path: string[];
  body: string[];
}

/** Returns the part of an operation's action that has it audited. */
export function auditOf(op: Operation): { audit?: Audited } {
  if (!isAudited(op)) return {};
  const by = op.access.by === "operator" ? "operator" : "tenant";
  return { audit: { by, path: Object.keys(op.path ?? {}), body: Object.keys(op.body ?? {}) } };
}

/** Audits the actions whose schema has `audit`. */
export const audit: Middleware = {
  name: "Audit",
  localAction(next: Handler, { name, audit }: ActionSchema & { audit?: Audited }) {
    return audit ? audited(name as string, audit, next) : next;
  },
};

/**
 * Runs an operation between two audit entries: nothing runs without an entry, and an operation cut off by a crash stays
 * recorded as begun. Calls of services without a caller are not audited.
 */
function audited(action: string, declared: Audited, handler: Handler) {
  return async (ctx: Call) => {
    const { caller, request_id } = ctx.meta;
    if (!caller && !request_id) return handler(ctx);
    // No tenant reads the operator's entries.
    const tenant_id = declared.by === "operator" ? INSTALLATION : caller.tenant_id;
    const { named, ...begun } = beginningOf(action, declared, ctx.params as Record<string, unknown>);
    const beginning: AuditBeginning = { tenant_id, ...begun };
    const id = await ctx.call<string, AuditBeginning>("audit.begin", beginning);
    const settle = (settlement: Omit<AuditSettlement, "tenant_id" | "id">) =>
      ctx.call("audit.settle", { tenant_id, id, ...settlement }).catch((err) => {
        // The operation was executed or refused; a missing entry cannot undo that.
        ctx.broker.logger.error(
          { err, id, ...settlement },
          "the outcome of an action could not be written to the audit log",
        );
      });
    try {
      const result = await handler(ctx);
      const made = (result as { id?: unknown } | null | undefined)?.id;
      const { audit } = ctx.locals as { audit?: object };
      await settle({
        outcome: "done",
        ...(typeof made === "string" && !named && { resource_id: made }),
        ...(audit && { details: { ...beginning.details, ...audit } }),
      });
      return result;
    } catch (err) {
      const isRefusal = isFault(err) && err.code < 500;
      await settle(isRefusal ? { outcome: "refused", error: err.type } : { outcome: "failed" });
      throw err;
    }
  };
}

function beginningOf(action: string, { path, body }: Audited, params: Record<string, unknown>) {
  const resource_type = resourceOf(action);
  // Operations within a run belong to the run, whatever else they name or create.
  const own = `${resource_type}_id`;
  const ids = path.map((name) => [name, params[name]] as const);
  const fields = body.filter((name) => params[name] !== undefined);
  return {
    action,
    resource_type,
    resource_id: ((path.includes(own) ? params[own] : ids.at(-1)?.[1]) as string | undefined) ?? null,
    // A path may name an output by its slug: its id is then in the answer.
    named: path.includes(own) && isUuid(String(params[own])),
    details: { ...Object.fromEntries(ids), ...(fields.length && { fields }) },
  };
}
