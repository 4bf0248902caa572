import type { ReactNode } from "react";
import type { Limits as Rules } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes, duration, number, plural } from "../../data/format.ts";
import { useLoad } from "../../data/queries.ts";
import { Card, Facts, FactsCard } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";

/** The session's remaining rate limit, and the organisation's limits. */
export function Limits() {
  const loaded = useLoad(async (signal) => {
    const [rules, rate] = await Promise.all([api.tenants.limits({}, { signal }), readRate(signal)]);
    return { rules, rate };
  }, []);
  return (
    <Load of={loaded} lines={8}>
      {({ rules, rate }) => (
        <div className="stack">
          <Card title="Requests">
            <Requests rules={rules} rate={rate} />
          </Card>
          <FactsCard
            title="Sizes"
            of={{
              Stored: <Stored {...rules.storage} />,
              "Largest event": bytes(rules.largest_bytes.event),
              "Largest document": bytes(rules.largest_bytes.document),
              "Largest output":
                rules.largest_bytes.output === null ? NO_LIMIT : bytes(rules.largest_bytes.output),
            }}
          />
          <Card title="Delivery">
            <div className="stack tight">
              <Facts
                of={{
                  "Delivery lease": duration(rules.delivery.visibility_timeout_seconds),
                  "Maximum delivery attempts": rules.delivery.retry_budget,
                  "Retried after": rules.delivery.retry_delays_seconds.map(duration).join(", "),
                }}
              />
              <p className="field-hint">An agent's settings can override these.</p>
            </div>
          </Card>
          <FactsCard title="Retention" of={keptOf(rules.kept_days)} />
          <p className="muted small">
            These limits apply to the whole installation. The operator sets them with environment variables;
            the storage quota can differ by organisation.
          </p>
        </div>
      )}
    </Load>
  );
}

const NO_LIMIT = <span className="muted">No limit</span>;
const perMinute = (limit: number | null): ReactNode =>
  limit === null ? NO_LIMIT : `${number(limit)} per minute`;

function Stored({ used_bytes, quota_bytes }: Rules["storage"]) {
  const used = bytes(used_bytes);
  if (quota_bytes !== null) return `${used} of ${bytes(quota_bytes)}`;
  return (
    <>
      {used}, {NO_LIMIT}
    </>
  );
}

function Requests({ rules, rate }: { rules: Rules; rate: Awaited<ReturnType<typeof readRate>> }) {
  const { caller, tenant, webhooks } = rules.requests_per_minute;
  return (
    <div className="stack">
      {rate && (
        <div className="stack tight">
          <p>
            <strong className="num">{number(rate.remaining)}</strong> of {number(rate.limit)} requests left in
            this minute.
          </p>
          <meter
            className="rate"
            min={0}
            max={rate.limit}
            low={rate.limit * 0.2}
            optimum={rate.limit}
            value={rate.remaining}
            aria-label="Requests left"
          />
        </div>
      )}
      <Facts
        of={{
          "Per agent or person": perMinute(caller),
          "Per organisation": perMinute(tenant),
          "Signed webhooks": perMinute(webhooks),
          "E-mails":
            rules.emails_per_hour === null ? (
              <span className="muted">Disabled</span>
            ) : (
              `${number(rules.emails_per_hour)} per hour`
            ),
        }}
      />
    </div>
  );
}

const days = (count: number) => plural(count, "day");

const keptOf = (kept: Rules["kept_days"]) => ({
  Events: days(kept.events),
  "Event IDs (deduplication)": days(kept.event_ids),
  "Acknowledged deliveries": days(kept.acknowledged_deliveries),
  "Forgotten memories": `${days(kept.forgotten_memories)}, restorable`,
  "Audit log": days(kept.audit),
});

/** The client returns bodies, but these values are in the headers. */
async function readRate(signal: AbortSignal) {
  const { headers } = await fetch("/v1/auth/me", { signal, credentials: "same-origin" });
  const limit = headers.get("x-ratelimit-limit");
  return limit ? { limit: Number(limit), remaining: Number(headers.get("x-ratelimit-remaining")) } : null;
}
