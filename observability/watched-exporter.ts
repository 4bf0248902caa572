import { type DiagLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Log } from "./log.ts";
import { metrics } from "./metrics.ts";

type Export = SpanExporter["export"];

/** `ExportResultCode.SUCCESS` of `@opentelemetry/core`, which is not a dependency. */
const SUCCESS = 0;

/** A collector that comes and goes is logged at most once in this time. */
const LOG_INTERVAL_MS = 60_000;

/** Exports spans, and logs when the collector is lost and recovers instead of each failed export. */
export class WatchedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  readonly #now: () => number;
  /** Time of the first failure since the last success. */
  #lostAt: number | null = null;
  #lostSpans = 0;
  #isLogged = false;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(exporter: SpanExporter, log: Log, now: () => number = Date.now) {
    this.#exporter = exporter;
    this.#log = log;
    this.#now = now;
  }

  export: Export = (spans, done) => {
    this.#exporter.export(spans, ({ code, error }) => {
      if (code === SUCCESS) this.#succeeded();
      else this.#failed(spans.length, error);
      // The processor would log each failure, and retries none.
      done({ code: SUCCESS });
    });
  };

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  #failed(spans: number, error: Error | undefined): void {
    const now = this.#now();
    this.#lostAt ??= now;
    this.#lostSpans += spans;
    metrics.spansLost.inc(spans);
    if (this.#isLogged || now - this.#loggedAt < LOG_INTERVAL_MS) return;
    this.#isLogged = true;
    this.#loggedAt = now;
    const reason = error?.message || (error as NodeJS.ErrnoException | undefined)?.code || "unknown";
    this.#log.warn(
      { reason },
      "tracing: the collector cannot be reached; spans are dropped until it is back",
    );
  }

  #succeeded(): void {
    if (this.#lostAt === null) return;
    const away_seconds = Math.round((this.#now() - this.#lostAt) / 1000);
    this.#lostAt = null;
    if (!this.#isLogged) return;
    this.#log.info({ lost_spans: this.#lostSpans, away_seconds }, "tracing: the collector is back");
    this.#isLogged = false;
    this.#lostSpans = 0;
  }
}

/** Logs OpenTelemetry's other messages. */
export function logDiagnostics(log: Log): void {
  const warn = (message: string, ...details: unknown[]) => log.warn({ details }, `tracing: ${message}`);
  const ignore = () => {};
  const logger: DiagLogger = { error: warn, warn, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
