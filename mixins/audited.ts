import type { Call } from "../lib/access/caller.ts";
import type { Operation } from "../lib/contract/contract.ts";
import { isFault } from "../lib/contract/faults.ts";

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

/** Owner of the operator's entries: no tenant reads them. */
const INSTALLATION = "installation";

/** Adds details to the audit entry of an operation when it ends. Never content, never a secret. */
export function account(ctx: Pick<Call, "locals">, details: Record<string, unknown>): void {
  ctx.locals.audit = details;
}

type Handler<P> = (ctx: Call<P>) => unknown;

/**
 * Runs an operation between two audit entries: nothing runs without an entry, and an operation cut off by a crash stays
 * recorded as begun. Calls of services without a caller are not audited.
 */
export function audited<P>(
  op: Pick<Operation, "action" | "access" | "path" | "body">,
  handler: Handler<P>,
): Handler<P> {
  return async (ctx) => {
    const { caller, request_id } = ctx.meta;
    if (!caller && !request_id) return handler(ctx);
    const tenant_id = op.access.by === "operator" ? INSTALLATION : caller.tenant_id;
    const { named, ...begun } = beginningOf(op, ctx.params);
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

function beginningOf(
  { action, path = {}, body = {} }: Pick<Operation, "action" | "path" | "body">,
  params: unknown,
) {
  const given = params as Record<string, unknown>;
  const resource_type = resourceOf(action);
  // Operations within a run belong to the run, whatever else they name or create.
  const own = `${resource_type}_id`;
  const ids = Object.keys(path).map((name) => [name, given[name]] as const);
  const fields = Object.keys(body).filter((name) => given[name] !== undefined);
  return {
    action,
    resource_type,
    resource_id: ((own in path ? given[own] : ids.at(-1)?.[1]) as string | undefined) ?? null,
    // A path may name an output by its slug: its id is then in the answer.
    named: own in path && UUID.test(String(given[own])),
    details: { ...Object.fromEntries(ids), ...(fields.length && { fields }) },
  };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the resource of an action: `memories.create` → `memory`. */
export function resourceOf(action: string): string {
  const [domain = ""] = action.split(".");
  return domain.replace(/ies$/, "y").replace(/s$/, "");
}
