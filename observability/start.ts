import type { Config } from "../config.ts";
import { tracesUrl } from "../lib/tracing-settings.ts";
import { VERSION } from "../lib/version.ts";
import type { Store } from "../storage/connection.ts";
import type { RecordClock } from "../storage/record-clock.ts";
import { DiskWatch } from "./disk.ts";
import { Health } from "./health.ts";
import { createLog, type Log } from "./log.ts";
import { metrics, observeGauge, observeValue, startProcessMetrics } from "./metrics.ts";
import { Modes } from "./modes.ts";
import { observeRecord } from "./record.ts";
import { watchQueue } from "./resources.ts";
import "./thread-metrics.ts";
import type { Tracing } from "./tracing.ts";

/** The observability of a node. */
export interface Observability {
  log: Log;
  health: Health;
  disk: DiskWatch;
  modes: Modes;
  tracing: Tracing | null;
}

/** Starts observability. The store must be open, so that `DATA_DIR` exists. */
export async function startObservability(
  config: Config,
  store: Pick<Store, "connection" | "driver" | "ping" | "onCommit" | "clock" | "queues" | "reads">,
): Promise<Observability> {
  const health = new Health();
  health.add("store", async () => {
    await store.ping();
    return null;
  });
  const holdsRecord = config.MONGO_URL === null;
  const disk = new DiskWatch(config.DATA_DIR, config.MIN_FREE_DISK_MB, holdsRecord);
  await disk.start();
  if (holdsRecord) health.add("disk", () => disk.reason);
  else health.remark("disk", () => disk.reason);
  observeValue("disk_free_bytes", "Free space on the disk of DATA_DIR", () => disk.freeBytes);
  observeValue(
    "disk_min_free_bytes",
    "Least free space: with less, the embedded store refuses writes",
    () => disk.minFreeBytes,
  );
  if (store.driver === "mongodb") observeRecord(store.connection.getClient());
  if (store.clock) observeClock(store.clock, health);
  store.onCommit((writes, seconds) => {
    metrics.storeOperations.inc(writes);
    metrics.storeCommit.observe(seconds);
  });
  for (const [name, queue] of Object.entries({ ...store.queues, large_read: store.reads }))
    watchQueue(name, queue);
  startProcessMetrics();
  observeValue("ready", "1 while this node can serve requests, as /readyz says, else 0", async () =>
    (await health.report()).status === "ready" ? 1 : 0,
  );
  observeGauge("build_info", "1, with the version of this node", "version", async () => ({ [VERSION]: 1 }));
  const log = createLog(config);
  return {
    log,
    health,
    disk,
    modes: new Modes(log, config.LOG_LEVEL, health),
    tracing: await startTracing(config, log),
  };
}

/** Loads the OpenTelemetry SDK only if traces are sent. */
async function startTracing(config: Config, log: Log): Promise<Tracing | null> {
  const url = tracesUrl(config);
  if (!url) return null;
  const { OtelTracing } = await import("./otel.ts");
  return new OtelTracing(url, config, log);
}

/** A larger error is worth a look: at the way to the record, or at its load. */
const LARGE_MS = 100;

/** Shows how well this node knows the record's time. */
function observeClock(clock: RecordClock, health: Health): void {
  observeValue(
    "clock_offset_seconds",
    "How far the record's clock is ahead of this machine's",
    () => clock.offset / 1000,
  );
  observeValue(
    "clock_error_seconds",
    "How far this node's knowledge of the record's time may be wrong, either way",
    () => clock.error / 1000,
  );
  health.remark("clock", () =>
    clock.error > LARGE_MS
      ? `known to within ${Math.round(clock.error)} ms only: the record answers slowly or not at all`
      : null,
  );
}
