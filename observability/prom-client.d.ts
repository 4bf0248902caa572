// Modules of prom-client without types: see process.ts.
declare module "prom-client/lib/counter.js" {
  import { Counter } from "prom-client";

  export = Counter;
}
declare module "prom-client/lib/gauge.js" {
  import { Gauge } from "prom-client";

  export = Gauge;
}
declare module "prom-client/lib/histogram.js" {
  import { Histogram } from "prom-client";

  export = Histogram;
}
declare module "prom-client/lib/registry.js" {
  import { Registry } from "prom-client";

  export = Registry;
}
declare module "prom-client/lib/metrics/*.js" {
  import type { Registry } from "prom-client";

  function start(registry: Registry, config: { eventLoopMonitoringPrecision: number }): void;
  export = start;
}
