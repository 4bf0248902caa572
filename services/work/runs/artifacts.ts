import { notFound, unknownReference } from "../../../lib/contract/faults.ts";
import { newUuid } from "../../../lib/ids.ts";
import { account } from "../../../middlewares/audit.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { requireCapacity } from "../../../storage/row-limit.ts";
import type { CallOf } from "../../runtime.ts";
import type * as contract from "./artifacts.contract.ts";
import { presentArtifact } from "./present.ts";
import { assertChangeable } from "./run-state.ts";
import type { RunStore } from "./run-store.ts";
import { MOST_ARTIFACTS } from "./shapes.contract.ts";

export async function registerArtifact(store: RunStore, ctx: CallOf<typeof contract.registerArtifact>) {
  const { broker, params, meta } = ctx;
  const { run_id, kind, pointer, step_record_id = null, mime_type = null } = params;
  const { tenant_id } = meta.caller;
  const run = await store.get(tenant_id, run_id);
  const records = step_record_id === null ? [] : await store.factsOf(run);
  if (step_record_id !== null && !records.some(({ record_id }) => record_id === step_record_id)) {
    throw unknownReference("step_record_id", "record", step_record_id);
  }
  const _id = newUuid(meta.idempotency_seed);
  const room = {
    ...{ of: store.artifacts, most: MOST_ARTIFACTS, within: { run_id }, called: "artifacts of the run" },
    ...{ rule: "run_limit" as const, instead: "Register further ones in another run" },
  };
  await requireCapacity(room, tenant_id, _id);
  const at = new Date(store.now());
  const row = await store.artifacts.insertOnce({
    ...{ _id, tenant_id, run_id, kind, pointer, step_record_id, mime_type },
    ...{ content_hash: null, byte_size: null, snapshotted_at: null, created_at: at, updated_at: at },
  });
  reportChange(broker, tenant_id, "run", [run_id]);
  account(ctx, { artifact_id: _id });
  return presentArtifact(row);
}

export async function listArtifacts(
  store: RunStore,
  { params: { run_id, offset = 0, limit = 50 }, meta }: CallOf<typeof contract.listArtifacts>,
) {
  const { tenant_id } = meta.caller;
  await store.get(tenant_id, run_id);
  const sort = { created_at: 1, _id: 1 } as const;
  const { rows, total } = await store.artifacts.page(tenant_id, { run_id }, sort, { offset, limit });
  return { artifacts: rows.map(presentArtifact), total };
}

export async function attachExemplar(store: RunStore, ctx: CallOf<typeof contract.attachExemplar>) {
  const { run_id, exemplar_id } = ctx.params;
  account(ctx, { exemplar_id });
  const { tenant_id } = ctx.meta.caller;
  const exists = () => ctx.call<boolean, object>("exemplars.exists", { tenant_id, exemplar_id });
  const { exemplar_ids, version } = await store.get(tenant_id, run_id);
  // No write: each counts as a change of the run, and repetitions must not use up its limit.
  if (exemplar_ids.includes(exemplar_id)) return { run_id, exemplar_ids };
  assertChangeable(version);
  if (!(await exists())) throw notFound("exemplar", exemplar_id);
  const run = await store.attach(tenant_id, run_id, exemplar_id, true);
  if (!run) throw notFound("run", run_id);
  // Checked again: the deletion looks for referrers after the exemplar ceased to exist for them.
  if (!(await exists())) {
    await store.attach(tenant_id, run_id, exemplar_id, false);
    throw notFound("exemplar", exemplar_id);
  }
  reportChange(ctx.broker, tenant_id, "run", [run_id]);
  return { run_id, exemplar_ids: run.exemplar_ids };
}
