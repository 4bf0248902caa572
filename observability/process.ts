/**
 * The metrics of the process, under prom-client's names. All of prom-client also loads the API of OpenTelemetry, for its
 * metrics of CPU, and clients of a push gateway and a cluster: 60 modules that no start needs.
 */
import type { Registry } from "prom-client";
import Counter from "prom-client/lib/counter.js";
import eventLoopLag from "prom-client/lib/metrics/eventLoopLag.js";
import gc from "prom-client/lib/metrics/gc.js";
import heapSizeAndUsed from "prom-client/lib/metrics/heapSizeAndUsed.js";
import heapSpacesSizeAndUsed from "prom-client/lib/metrics/heapSpacesSizeAndUsed.js";
import osMemoryHeap from "prom-client/lib/metrics/osMemoryHeap.js";
import processHandles from "prom-client/lib/metrics/processHandles.js";
import processMaxFileDescriptors from "prom-client/lib/metrics/processMaxFileDescriptors.js";
import processOpenFileDescriptors from "prom-client/lib/metrics/processOpenFileDescriptors.js";
import processRequests from "prom-client/lib/metrics/processRequests.js";
import processResources from "prom-client/lib/metrics/processResources.js";
import processStartTime from "prom-client/lib/metrics/processStartTime.js";
import version from "prom-client/lib/metrics/version.js";

const STARTS = [
  ...[processStartTime, osMemoryHeap, processOpenFileDescriptors, processMaxFileDescriptors, eventLoopLag],
  ...[processResources, processHandles, processRequests, heapSizeAndUsed, heapSpacesSizeAndUsed, version, gc],
];

/** Starts the metrics of CPU, memory, garbage collection and event loop lag. */
export function observeProcess(registry: Registry): void {
  const cpu = (kind: string, what: string, read: (usage: NodeJS.CpuUsage) => number) =>
    new Counter({
      ...{ name: `process_cpu_${kind}seconds_total`, help: `Total ${what} CPU time spent in seconds.` },
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read(process.cpuUsage()) / 1e6);
      },
    });
  cpu("user_", "user", ({ user }) => user);
  cpu("system_", "system", ({ system }) => system);
  cpu("", "user and system", ({ user, system }) => user + system);
  for (const start of STARTS) start(registry, { eventLoopMonitoringPrecision: 20 });
}
