import { Link } from "react-router";
import { groupByReason } from "../../../../client/attention.ts";
import type { Agent, OnboardingGuidance, RecentEvent, Stats } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, compact, duration, plural } from "../../data/format.ts";
import { useLive } from "../../data/live.ts";
import { isSettled, useFollowed } from "../../data/queries.ts";
import { type SessionValue, useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { DeliveryChart } from "../../traffic/delivery-chart.tsx";
import { ButtonLink } from "../../ui/button.tsx";
import { CheckFilter } from "../../ui/filters.tsx";
import { MailX, Radio, Send } from "../../ui/icons.tsx";
import { Card, Empty, Page, Skeleton } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Badge, SubjectText, Tile, Time } from "../../ui/text.tsx";
import { AgentState, HEALTH } from "../agents/health.tsx";
import { Outcome } from "../events/timeline.tsx";
import { Demonstration, useDemo } from "./demonstration.tsx";
import { COMMANDS, FirstCommands, FirstSteps, openSteps, useGuidance } from "./first-steps.tsx";
import "./overview.css";

export function Overview() {
  const live = useLive();
  const { tenant, may } = useSession();
  // Shown together: what is loaded last would move the rest.
  const attention = useAttention();
  const guidance = useGuidance();
  const demo = useDemo();
  const isLoaded = [attention, guidance, demo].every(isSettled);
  const [label, tone] = live.connected ? (["Live", "good"] as const) : (["Reconnecting", "warn"] as const);
  const state = live.stats && <Badge label={label} tone={tone} dot />;
  return (
    <Page title="Overview" lead={`Live event flow of ${tenant.name}.`} state={state}>
      {live.stats && isLoaded ? (
        <>
          <FirstSteps guidance={guidance} />
          <Demonstration demo={demo} isFirst={isFirst(guidance.data, may)} />
          {attention.data && <Attention {...attention.data} />}
          <Flow stats={live.stats} guidance={guidance.data} />
        </>
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

/** The last complete counts: half a minute. */
const RECENT_COUNTS = 3;

/** Whether the commands for a new server are shown. */
function isFirst(guidance: OnboardingGuidance | undefined, may: SessionValue["may"]): boolean {
  if (!guidance || guidance.dismissed_at || !may("agents.create")) return false;
  const open = openSteps(guidance);
  return COMMANDS.some(({ step }) => open.includes(step));
}

function Flow({ stats, guidance }: { stats: Stats; guidance: OnboardingGuidance | undefined }) {
  const { may } = useSession();
  const { series, deliveries } = stats;
  const open = guidance ? openSteps(guidance) : [];
  const begins = isFirst(guidance, may);
  const rate = (counts: number[]) => {
    const recent = counts.slice(-1 - RECENT_COUNTS, -1).reduce((sum, count) => sum + count, 0);
    return `${compact(recent / (RECENT_COUNTS * series.seconds))}/s`;
  };
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
      {begins && <FirstCommands open={open} />}
      {!(begins && open.includes("publish_event")) && <DeliveryChart />}
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
  const isReady = status === "ready";
  const state = <Badge label={isReady ? "Healthy" : "Not ready"} tone={isReady ? "good" : "bad"} dot />;
  return (
    <Card title="Service health" actions={state} flush>
      <ul className="checks-list">
        {Object.entries(checks).map(([name, answer]) => (
          <li key={name}>
            <span>{capitalised(name)}</span>
            {answer === "ok" ? (
              <Badge label="OK" tone="good" />
            ) : (
              <span className="small health-remark">{answer}</span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

const MOST_SHOWN = 5;
/** Agents that are read, so that those with the same reason are one line. */
const MOST_READ = 50;

const NONE = { agents: [] as Agent[], total: 0 };

/** The agents that somebody should look at, the worst first; none for those who may not list agents. */
function useAttention() {
  const { may } = useSession();
  const mayList = may("agents.list");
  return useFollowed(
    HEALTH,
    async (signal) => {
      if (!mayList) return NONE;
      const wanted = { needs_attention: true, include: "delivery", sort: "attention" } as const;
      return api.agents.list({ ...wanted, limit: MOST_READ }, { signal });
    },
    [mayList],
  );
}

function Attention({ agents, total }: typeof NONE) {
  if (total === 0) return null;
  return (
    <Card
      title={`${plural(total, "agent needs", "agents need")} attention`}
      actions={<ButtonLink label="View all" to="/agents?status=attention" small kind="quiet" />}
      flush
    >
      <ul className="recent">
        {groupByReason(agents, duration)
          .slice(0, MOST_SHOWN)
          .map(({ agents: same, summary }) => (
            <li key={same[0]?.id}>
              {summary === null ? (
                same.map((agent) => <AgentInNeed key={agent.id} agent={agent} />)
              ) : (
                <details className="in-need-group">
                  <summary>
                    <strong>
                      {total > agents.length && "At least "}
                      {plural(same.length, "agent")} {summary}
                    </strong>
                  </summary>
                  {same.map((agent) => (
                    <AgentInNeed key={agent.id} agent={agent} />
                  ))}
                </details>
              )}
            </li>
          ))}
      </ul>
    </Card>
  );
}

function AgentInNeed({ agent }: { agent: Agent }) {
  return (
    <Link to={`/agents/${agent.id}`} className="recent-event in-need">
      <span>
        <strong>{agent.name}</strong>
        <span className="muted small">{agent.delivery?.reason}</span>
      </span>
      <AgentState agent={agent} />
      <span className="muted small">{agent.delivery && backlogOf(agent.delivery)}</span>
    </Link>
  );
}

const backlogOf = ({ pending, dead }: NonNullable<Agent["delivery"]>) =>
  [dead > 0 && `${compact(dead)} dead`, pending > 0 && `${compact(pending)} pending`]
    .filter(Boolean)
    .join(" · ");

/** The latest events; the service's own are shown on request. */
function Recent({ stats, mayLook }: { stats: Stats; mayLook: boolean }) {
  const [search] = useAddress();
  const service = search.get("service") === "1";
  return (
    <Card
      title="Latest events"
      actions={
        <>
          {mayLook && <CheckFilter name="service" label="Service events" replace />}
          <ButtonLink label="All events" to={service ? "/events?service=1" : "/events"} small kind="quiet" />
        </>
      }
      flush
    >
      {service && mayLook ? (
        <WithService shown={stats.recent.length} />
      ) : (
        <RecentEvents events={stats.recent} mayLook={mayLook} />
      )}
    </Card>
  );
}

const MOST_RECENT = 12;

/** The latest events with the service's own, which the statistics leave out. */
function WithService({ shown }: { shown: number }) {
  const loaded = useFollowed(
    "event",
    async (signal) => {
      const { events } = await api.events.list({ limit: MOST_RECENT }, { signal });
      return events.map(({ payload: { type, source, subject = null }, ...event }) => {
        return { ...event, type, source, subject };
      });
    },
    [],
  );
  return (
    <Load of={loaded} lines={Math.max(shown, 4)}>
      {(events) => <RecentEvents events={events} mayLook />}
    </Load>
  );
}

function RecentEvents({ events, mayLook }: { events: readonly RecentEvent[]; mayLook: boolean }) {
  if (events.length === 0)
    return (
      <Empty
        icon={mayLook ? Radio : MailX}
        title={mayLook ? "No events yet" : "Only admins see all events"}
        action={mayLook && <ButtonLink label="Publish an event" to="/events?publish=1" icon={Send} />}
      >
        {mayLook && "Publish an event here, from an agent, or through a webhook under Ingest."}
      </Empty>
    );
  return (
    <ul className="recent">
      {events.map((event) => (
        <li key={event.event_id}>
          <Link to={`/events/${event.event_id}`} className="recent-event">
            <span className="truncate">
              <strong>{event.type}</strong>
              <span className="faint small truncate">
                {event.subject ? <SubjectText event={event} /> : event.source}
              </span>
            </span>
            <Outcome of={event} />
            <span className="faint small">
              <Time at={event.accepted_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
