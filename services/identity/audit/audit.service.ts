import { pageOf } from "../../../lib/contract/cursor.ts";
import { defined } from "../../../lib/defined.ts";
import { derivedId, newId } from "../../../lib/ids.ts";
import { DAY_MS } from "../../../lib/time.ts";
import type { AuditBeginning, AuditSettlement } from "../../../middlewares/audit.ts";
import { SharedLoop } from "../../../mixins/shared.ts";
import { action, idempotent, internal, type ServiceFactory } from "../../runtime.ts";
import { exportAudit, listAudit } from "./audit.contract.ts";
import { type AuditDoc, AuditModel } from "./audit.model.ts";
import { newEntry, present, toFilter } from "./entry.ts";
import { beginExport, type ExportQuery, nextPart } from "./export.ts";

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
const BATCH = 1000;

/** The audit log. Entries are written by middlewares/audit.ts, and by `record`. */
export const auditService: ServiceFactory = ({ store, config }) => {
  const entries = store.collection(AuditModel);
  const now = () => new Date(store.now());

  async function removeOld(): Promise<boolean> {
    const before = { $lt: new Date(store.now() - config.AUDIT_DAYS * DAY_MS) };
    const options = { limit: BATCH, projection: { _id: 1 } as const };
    const old = await entries.system.find({ at: before }, options).toArray();
    if (old.length) await entries.system.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
    return old.length === BATCH;
  }

  return {
    name: "audit",
    mixins: [
      new SharedLoop(
        "sweep",
        removeOld,
        SWEEP_MS,
        "audit: old entries could not be removed; the next sweep retries",
      ).mixin,
    ],
    actions: {
      list: action(listAudit, async ({ params, meta }) => {
        const { limit = 50 } = params;
        const options = { sort: { at: -1, _id: -1 } as const, limit: limit + 1 };
        const found = await entries.findWithin(meta.caller.tenant_id, toFilter(params), options);
        const { page, next_cursor } = pageOf(found, limit, "at");
        return { entries: page.map(present), next_cursor };
      }),

      export: action(exportAudit, (ctx) => beginExport(entries, ctx)),
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
