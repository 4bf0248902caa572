import { number } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { Card, Fact, Facts } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";

interface RateLimit {
  limit: number;
  remaining: number;
}

/** What holds for this session now, and where the operator sets what holds for all. */
export function Limits() {
  const rate = useLoad(readRate, []);
  return (
    <div className="stack">
      <Card title="Your requests">
        <Load of={rate} lines={2}>
          {(data) =>
            data ? (
              <div className="stack tight">
                <p>
                  <strong className="num">{number(data.remaining)}</strong> of {number(data.limit)} requests
                  are left in this minute.
                </p>
                <meter
                  className="rate"
                  min={0}
                  max={data.limit}
                  low={data.limit * 0.2}
                  optimum={data.limit}
                  value={data.remaining}
                  aria-label="Requests left"
                />
                <p className="muted small">
                  Each agent and each person has its own budget; answers tell it in the headers X-RateLimit-*.
                </p>
              </div>
            ) : (
              <p className="muted">The operator has switched the rate limit off.</p>
            )
          }
        </Load>
      </Card>
      <Card title="Set by the operator">
        <p className="muted">
          These hold for the installation. The operator sets them by environment variables.
        </p>
        <Facts>
          {SETTINGS.map(([name, variable]) => (
            <Fact key={variable} name={name}>
              <code>{variable}</code>
            </Fact>
          ))}
        </Facts>
      </Card>
      <Card title="Per agent">
        <p className="muted">
          How long a delivery may take before it is given out again, and how often it is tried, is set on each
          agent’s page.
        </p>
      </Card>
    </div>
  );
}

const SETTINGS = [
  ["Requests per minute, per agent or person", "RATE_LIMIT_PER_MINUTE"],
  ["Requests per minute, per organisation", "TENANT_RATE_LIMIT_PER_MINUTE"],
  ["Largest event", "EVENT_MAX_BYTES"],
  ["Largest document", "DOCUMENT_MAX_BYTES"],
  ["Largest output", "OUTPUT_BODY_MAX"],
] as const;

/** The client gives bodies; what is wanted here stands in the headers. */
async function readRate(signal: AbortSignal): Promise<RateLimit | null> {
  const { headers } = await fetch("/v1/auth/me", { signal, credentials: "same-origin" });
  const limit = headers.get("x-ratelimit-limit");
  return limit ? { limit: Number(limit), remaining: Number(headers.get("x-ratelimit-remaining")) } : null;
}
