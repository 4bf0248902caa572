import type { ServiceBroker } from "moleculer";
import type { Call } from "../../lib/caller.ts";
import { invalidCursor } from "../../lib/faults.ts";
import { derivedId, newId } from "../../lib/ids.ts";
import { Loop } from "../../mixins/loop.ts";
import { action, internal, type ServiceFactory } from "../runtime.ts";
import { listAudit } from "./audit.contract.ts";
import { type AuditDoc, AuditModel } from "./audit.model.ts";

/** What is noted of something that was done; who did it is the caller's token. */
interface AuditRecord {
  tenant_id: string;
  action: string;
  resource_type?: string;
  resource_id?: string;
  /** Ids and counts, never content. */
  details?: Record<string, unknown>;
  /** The same text is noted once. */
  dedupe?: string;
}

const DAY_MS = 86_400_000;
const SWEEP_MS = 10 * 60_000;
const BATCH = 1000;

export const auditService: ServiceFactory = ({ store, config }) => {
  const entries = store.collection(AuditModel);
  let sweep: Loop;

  async function removeOld(): Promise<boolean> {
    const before = { $lt: new Date(store.now() - config.AUDIT_DAYS * DAY_MS) };
    const options = { limit: BATCH, projection: { _id: 1 } };
    const old = await entries.system.find({ at: before }, options).toArray();
    if (old.length) await entries.system.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
    return old.length === BATCH;
  }

  return {
    name: "audit",
    actions: {
      list: action(listAudit, async ({ params, meta }) => {
        const { limit = 50, cursor, action: what, actor_id } = params;
        const filter = { ...(what && { action: what }), ...(actor_id && { actor_id }), ...before(cursor) };
        const options = { sort: { at: -1, _id: -1 } as const, limit: limit + 1 };
        const rows = await entries.find(meta.caller.tenant_id, filter as never, options);
        const page = rows.slice(0, limit);
        const last = rows.length > limit ? page.at(-1) : undefined;
        return { entries: page.map(present), next_cursor: last ? cursorOf(last) : null };
      }),

      record: internal<AuditRecord>(async (ctx) => {
        await entries.insertOnce(toRow(ctx, new Date(store.now())));
      }),
    },

    events: {
      "$broker.started"() {
        sweep.start();
      },
    },

    created() {
      const broker = this.broker as ServiceBroker;
      const report = (err: unknown) => broker.logger.warn("audit: old entries are removed later", err);
      sweep = new Loop(removeOld, SWEEP_MS, report);
    },

    async stopped() {
      await sweep.stop();
    },
  };
};

function toRow({ params, meta }: Call<AuditRecord>, at: Date): AuditDoc {
  const { tenant_id, action: what, resource_type = null, resource_id = null, details, dedupe } = params;
  const { caller, request_id, ip } = meta;
  const actor = caller?.kind === "agent" ? caller.agent_id : caller?.user_id;
  return {
    _id: dedupe ? derivedId("aud", tenant_id, what, dedupe) : newId("aud"),
    tenant_id,
    at,
    action: what,
    actor_kind: caller?.kind ?? "service",
    actor_id: actor ?? null,
    resource_type,
    resource_id,
    request_id: request_id ?? null,
    ip: ip ?? null,
    details: JSON.stringify(details ?? {}),
  };
}

function cursorOf({ at, _id }: AuditDoc): string {
  return Buffer.from(`${at.getTime()} ${_id}`).toString("base64url");
}

/** What comes after a page. @throws Fault validation_failed */
function before(cursor: string | undefined): object {
  if (cursor === undefined) return {};
  const [, ms, id] = /^(\d{1,15}) (aud_[\w-]+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (!ms || !id) throw invalidCursor(cursor);
  const at = new Date(Number(ms));
  return { at: { $lte: at }, $or: [{ at: { $lt: at } }, { _id: { $lt: id } }] };
}

function present({ _id, tenant_id, at, details, ...rest }: AuditDoc) {
  return { id: _id, at: at.toISOString(), ...rest, details: JSON.parse(details) };
}
