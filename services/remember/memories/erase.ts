import { createHash } from "node:crypto";
import type { Call, RequestContext } from "../../../lib/access/caller.ts";
import type { ParamsOf } from "../../../lib/contract/contract.ts";
import { invalidValue, notFound } from "../../../lib/contract/faults.ts";
import { backupsUntil } from "../../platform/system/scrub.ts";
import type { eraseMemories } from "./erase.contract.ts";
import type { Erased, Erasures } from "./erasures.ts";

type Asked = ParamsOf<typeof eraseMemories>;

/** Erases memories, or counts what it would erase. */
export async function erase(erasures: Erasures, config: { BACKUP_RETENTION_DAYS: number }, ctx: Call<Asked>) {
  const { dry_run = false, agent_id, ids, subject } = ctx.params;
  const { tenant_id } = ctx.meta.caller;
  const target = { ...(agent_id && { agent_id }), ...(ids && { ids }), ...(subject && { subject }) };
  const by = await namedBy(ctx);
  if (dry_run) {
    const erased = await erasures.count(ctx.broker, tenant_id, target);
    return { dry_run, erased_at: null, erased, storage: null, backups_until: null, receipt: null };
  }
  await note(ctx, "memories.erase_begun", { by });
  const row = await erasures.begin(tenant_id, target, by);
  const done = await erasures.carryOut(ctx.broker, row);
  const { erased, memory_ids_sha256 } = done;
  await note(ctx, "memories.erase", { by, erased, memory_ids_sha256 });
  return { dry_run, ...(await signed(ctx, { tenant_id, by }, done, config)) };
}

/** Erases what is an agent's or a person's own, and at last the account. Its caller has checked that it may. */
export async function eraseOwner(
  erasures: Erasures,
  config: { BACKUP_RETENTION_DAYS: number },
  ctx: Call<{ tenant_id: string; owner_id: string; shared: "keep" | "erase" }>,
) {
  const { tenant_id, owner_id, shared } = ctx.params;
  const by = { owner_id, shared };
  const row = await erasures.begin(tenant_id, { agent_id: owner_id, gone: shared }, by);
  return signed(ctx, { tenant_id, by }, await erasures.carryOut(ctx.broker, row), config);
}

/** Returns the result of an erasure with its receipt. */
async function signed(
  ctx: Pick<Call, "call">,
  of: { tenant_id: string; by: object },
  { erased_at, erased, memory_ids_sha256, storage }: Erased,
  config: { BACKUP_RETENTION_DAYS: number },
) {
  const result = {
    ...{ erased_at: erased_at.toISOString(), erased, storage },
    backups_until: backupsUntil(erased_at, config),
  };
  const claims = { ...of, memory_ids_sha256, ...result };
  return { ...result, receipt: await ctx.call("auth.sign_receipt", { claims }) };
}

function note(ctx: RequestContext, what: string, details: object): Promise<unknown> {
  const { tenant_id } = ctx.meta.caller;
  return ctx.call("audit.record", { tenant_id, action: what, resource_type: "memory", details });
}

/**
 * Returns the audit log's name for the requested memories: a subject only as its digest, so that the log does not keep
 * erased data. @throws Fault validation_error, not_found
 */
async function namedBy(ctx: Call<Asked>): Promise<object> {
  const { agent_id, ids, subject } = ctx.params;
  const named = [agent_id, ids, subject].filter((each) => each !== undefined);
  if (named.length !== 1) {
    throw invalidValue(
      "agent_id",
      `The request: expected exactly one of agent_id, ids and subject, got ${named.length}.`,
      {
        expected: "exactly one of agent_id, ids, subject",
      },
    );
  }
  if (ids) return { ids: ids.length };
  if (subject !== undefined) return { subject_sha256: createHash("sha256").update(subject).digest("hex") };
  const { tenant_id } = ctx.meta.caller;
  const known = await ctx.call<unknown[], unknown>("agents.get_many", { tenant_id, agent_ids: [agent_id] });
  if (known.length === 0) throw notFound("agent", agent_id as string);
  return { agent_id };
}
