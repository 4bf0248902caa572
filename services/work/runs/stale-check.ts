import type { RunStore } from "./run-store.ts";
import type { RunDoc } from "./runs.model.ts";
import { nextStaleCheck } from "./staleness.ts";
import { reportStale } from "./transitions.ts";

const BATCH = 100;
const DUE = { sort: { stale_check_at: 1 }, limit: BATCH, projection: { tenant_id: 1 } } as const;

/** Reports steps that became stale. @returns whether there may be more */
export async function checkStale(store: RunStore): Promise<boolean> {
  const filter = { stale_check_at: { $lte: new Date(store.now()) } };
  const due = (await store.runs.system.find(filter, DUE).toArray()) as RunDoc[];
  for (const { _id, tenant_id } of due) {
    const { facts } = await store.change(tenant_id, _id, (run) => reportStale(run, store.now()));
    if (facts.length === 0) await checkLater(store, tenant_id, _id);
  }
  return due.length === BATCH;
}

/** Schedules the next check of a run without unreported stale steps. */
async function checkLater(store: RunStore, tenant_id: string, run_id: string): Promise<void> {
  const run = await store.get(tenant_id, run_id);
  const stale_check_at = nextStaleCheck(run);
  const version = run.version + 1;
  await store.runs.updateMany(
    tenant_id,
    { _id: run_id, version: run.version },
    stale_check_at
      ? { $set: { version, stale_check_at } }
      : { $set: { version }, $unset: { stale_check_at: 1 } },
  );
}
