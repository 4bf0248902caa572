import type { ServiceBroker } from "moleculer";
import type { Static } from "typebox";
import type { PlatformEventType } from "../../../lib/cloudevents/platform-types.ts";
import { reportChange } from "../../../middlewares/live-changes.ts";
import { Due } from "../../../mixins/due.ts";
import { PAGE_BYTES } from "../../../storage/commands.ts";
import { snapshotsIn, writeSnapshots } from "./evidence.ts";
import { transitionsIn } from "./run-document.ts";
import type { RunStore } from "./run-store.ts";
import type { RunChange } from "./runs.contract.ts";
import type { Fact, RunDoc, RunFactsDoc } from "./runs.model.ts";

/** Small: changes of these runs wait meanwhile. */
const BATCH = 25;
type Waiting = Pick<RunDoc, "_id" | "tenant_id" | "version" | "project_id" | "status" | "outbox" | "waits">;

/** Relays the facts of changed runs. The task returns whether there may be more. */
export function newRelay(store: RunStore): (broker: ServiceBroker) => Promise<boolean> {
  const projection = { version: 1, project_id: 1, status: 1, outbox: 1, waits: 1 };
  const waiting = { by: "relay_at", batch: BATCH, projection, bytes: PAGE_BYTES } as const;
  const due = new Due<RunDoc>({ rows: store.runs, now: () => store.now(), ...waiting });
  return (broker) => due.work((tenant_id, runs) => relay(store, broker, tenant_id, runs));
}

/**
 * Moves facts from runs to their own collection, and publishes them as `service.run.*`. Ids of rows and events derive
 * from run, version and index, so a repetition after a crash adds nothing.
 */
async function relay(
  store: RunStore,
  broker: ServiceBroker,
  tenant_id: string,
  runs: Waiting[],
): Promise<void> {
  const rows = runs.flatMap(factRows);
  const snapshots = runs.flatMap((run) =>
    snapshotsIn(
      run,
      transitionsIn(run.outbox).flatMap(({ facts }) => facts),
    ),
  );
  await Promise.all([
    ...(rows.length ? [store.facts.insertMissing(rows)] : []),
    writeSnapshots(store.artifacts, snapshots),
    publish(broker, tenant_id, runs),
    ...runs.map((run) => endWaits(broker, run)),
  ]);
  await clear(store, runs);
}

/** Ends the waits that the run no longer has; later ones belong to a higher version. */
async function endWaits(broker: ServiceBroker, { _id, tenant_id, version, waits }: Waiting): Promise<void> {
  if (!waits) return;
  await broker.call("interests.end_waits", { tenant_id, owner_id: _id, version, keep: waits });
}

function factRows({ _id: run_id, tenant_id, outbox }: Waiting): RunFactsDoc[] {
  return transitionsIn(outbox).map((each) => ({
    _id: `${run_id}:${each.version}`,
    tenant_id,
    run_id,
    ...each,
  }));
}

/** Removes only relayed facts: newer ones keep the run waiting. */
async function clear({ runs }: RunStore, relayed: Waiting[]): Promise<void> {
  const { matchedCount } = await runs.bulk(relayed.map(emptying));
  // Some changed since.
  if (matchedCount < relayed.length) await runs.bulk(relayed.map(lightening));
}

function emptying({ _id, tenant_id, version }: Waiting) {
  const update = { $set: { outbox: {} }, $unset: { relay_at: 1, snapshots: 1 } };
  return { updateOne: { filter: { _id, tenant_id, version }, update } };
}

function lightening({ _id, tenant_id, version, outbox }: Waiting) {
  const $unset = Object.fromEntries(Object.keys(outbox).map((slot) => [`outbox.${slot}`, 1]));
  return { updateOne: { filter: { _id, tenant_id, version: { $gt: version } }, update: { $unset } } };
}

function makeEvent(run: Waiting, fact: Fact, version: number, index: number) {
  const { kind, at, step_key, actor, record_id, criterion_key, assigned_user_id, handoff_offer_id } = fact;
  // The run may have changed since.
  const { run_status = run.status, outcome } = fact;
  return {
    type: `service.run.${kind}` satisfies PlatformEventType,
    subject: run._id,
    data: {
      ...{ run_id: run._id, project_id: run.project_id, run_status, step_key },
      at: at.toISOString(),
      ...actor,
      ...(record_id && { record_id }),
      ...(outcome && { outcome }),
      ...(criterion_key && { criterion_key }),
      ...(assigned_user_id !== undefined && { assigned_user_id }),
      ...(handoff_offer_id && { handoff_offer_id }),
    } satisfies Static<typeof RunChange>,
    dedupe: `run ${run._id} ${version} ${index}`,
  };
}

async function publish(broker: ServiceBroker, tenant_id: string, runs: Waiting[]): Promise<void> {
  const ids = runs.map(({ _id }) => _id);
  reportChange(broker, tenant_id, "run", ids);
  const emissions = runs.flatMap((run) =>
    transitionsIn(run.outbox).flatMap(({ version, facts }) =>
      facts.map((fact, index) => makeEvent(run, fact, version, index)),
    ),
  );
  await broker.call("events.emit_taken", { tenant_id, emissions });
}
