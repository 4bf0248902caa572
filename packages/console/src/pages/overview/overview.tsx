import { Link } from "react-router";
import type { Stats } from "../../../../client/index.ts";
import { compact, duration } from "../../data/format.ts";
import { type Live, useLive } from "../../data/live.ts";
import { capitalised } from "../../data/text.ts";
import { isSettled } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { DeliveryChart } from "../../traffic/delivery-chart.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card, Page, Skeleton } from "../../ui/page.tsx";
import { Tile } from "../../ui/tile.tsx";
import { Attention, useAttention } from "./attention.tsx";
import { FirstSteps, useGuidance } from "./first-steps.tsx";
import { Recent } from "./recent.tsx";
import "./overview.css";

export function Overview() {
  const live = useLive();
  const { tenant } = useSession();
  // Shown together: what is loaded last would move the rest.
  const attention = useAttention();
  const guidance = useGuidance();
  const isLoaded = isSettled(attention) && isSettled(guidance);
  return (
    <Page title="Overview" lead={`Live event flow of ${tenant.name}.`} state={<Connection live={live} />}>
      {live.stats && isLoaded ? (
        <>
          <FirstSteps guidance={guidance} />
          {attention.data && <Attention {...attention.data} />}
          <Flow stats={live.stats} />
        </>
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function Connection({ live }: { live: Live }) {
  if (!live.stats) return null;
  return live.connected ? (
    <Badge tone="good" dot>
      Live
    </Badge>
  ) : (
    <Badge tone="warn" dot>
      Reconnecting
    </Badge>
  );
}

/** The last complete counts: half a minute. */
const RECENT_COUNTS = 3;

function rateOf(counts: number[], seconds: number): number {
  const last = counts.slice(-1 - RECENT_COUNTS, -1);
  return last.reduce((sum, count) => sum + count, 0) / (RECENT_COUNTS * seconds);
}

function Flow({ stats }: { stats: Stats }) {
  const { series, deliveries } = stats;
  const rate = (counts: number[]) => `${compact(rateOf(counts, series.seconds))}/s`;
  return (
    <>
      <div className="tiles">
        <Tile name="Published" value={rate(series.published)} note="last 30 s" />
        <Tile name="Delivered" value={rate(series.delivered)} note="last 30 s" />
        <Tile name="Acknowledged" value={rate(series.acknowledged)} note="last 30 s" />
        {deliveries && <Backlog deliveries={deliveries} />}
        {deliveries && (
          <Tile
            name="Dead letters"
            value={compact(deliveries.dead)}
            tone={deliveries.dead > 0 ? "bad" : undefined}
            note={deliveries.dead > 0 ? <Link to="/dead-letters">Inspect and replay</Link> : "None"}
          />
        )}
      </div>
      <DeliveryChart />
      <div className="sides with-facts">
        <Recent stats={stats} mayLook={deliveries !== null} />
        <Health health={stats.health} />
      </div>
    </>
  );
}

function Backlog({ deliveries }: { deliveries: NonNullable<Stats["deliveries"]> }) {
  const { pending, oldest_age_seconds, in_flight } = deliveries;
  const age = oldest_age_seconds === null ? "No backlog" : `Oldest ${duration(oldest_age_seconds)}`;
  return (
    <Tile
      name="Pending"
      value={compact(pending)}
      note={in_flight ? `${age}, ${compact(in_flight)} in flight` : age}
    />
  );
}

function Health({ health: { status, checks } }: { health: Stats["health"] }) {
  const state =
    status === "ready" ? (
      <Badge tone="good" dot>
        Healthy
      </Badge>
    ) : (
      <Badge tone="bad" dot>
        Not ready
      </Badge>
    );
  return (
    <Card title="Service health" actions={state} flush>
      <ul className="checks-list">
        {Object.entries(checks).map(([name, answer]) => (
          <li key={name}>
            <span>{capitalised(name)}</span>
            {answer === "ok" ? (
              <Badge tone="good">OK</Badge>
            ) : (
              <span className="small health-remark">{answer}</span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
