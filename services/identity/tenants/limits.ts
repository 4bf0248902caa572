import type { Config } from "../../../config.ts";
import { toStorage, type Usage } from "../../../storage/usage/usage.ts";

const orNull = (limit: number) => limit || null;

/** Returns the installation's settings for callers; disabled ones are null. */
export function limitsOf(config: Config, usage: Usage) {
  return {
    storage: toStorage(usage),
    requests_per_minute: {
      caller: orNull(config.RATE_LIMIT_PER_MINUTE),
      tenant: orNull(config.TENANT_RATE_LIMIT_PER_MINUTE),
      webhooks: orNull(config.WEBHOOKS_PER_MINUTE),
    },
    emails_per_hour: config.OUTBOUND_EMAIL ? config.OUTBOUND_EMAILS_PER_HOUR : null,
    largest_bytes: {
      event: config.EVENT_MAX_BYTES,
      document: config.DOCUMENT_MAX_BYTES,
      output: orNull(config.OUTPUT_BODY_MAX),
    },
    delivery: {
      visibility_timeout_seconds: config.VISIBILITY_TIMEOUT_SECONDS,
      retry_budget: config.RETRY_BUDGET,
    },
    kept_days: {
      events: Math.max(config.EVENT_RETENTION_DAYS, config.DEDUPE_DAYS),
      event_ids: config.DEDUPE_DAYS,
      acknowledged_deliveries: config.ACKNOWLEDGED_RETENTION_DAYS,
      forgotten_memories: config.MEMORY_REVERSIBILITY_DAYS,
      audit: config.AUDIT_DAYS,
    },
  };
}
