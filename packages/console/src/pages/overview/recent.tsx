import { Link } from "react-router";
import type { RecentEvent, Stats } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { CheckField } from "../../ui/field.tsx";
import { MailX, Radio, Send } from "../../ui/icons.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { SubjectText } from "../../ui/subject.tsx";
import { Load } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { EventState } from "../events/state.tsx";

/** The latest events; the service's own are shown on request. */
export function Recent({ stats, mayLook }: { stats: Stats; mayLook: boolean }) {
  const [search, change] = useAddress();
  const service = search.get("service") === "1";
  return (
    <Card
      title="Latest events"
      actions={
        <>
          {mayLook && (
            <CheckField
              label="Service events"
              checked={service}
              onChange={(wanted) => change({ service: wanted ? "1" : null }, { replace: true })}
            />
          )}
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
      return events.map(({ payload, ...event }) => ({ ...event, ...subjectOf(payload) }));
    },
    [],
  );
  return (
    <Load of={loaded} lines={Math.max(shown, 4)}>
      {(events) => <RecentEvents events={events} mayLook />}
    </Load>
  );
}

type Recently = Pick<RecentEvent, "event_id" | "state" | "matched_count" | "accepted_at"> & Envelope;
type Envelope = Pick<RecentEvent, "type" | "source" | "subject">;

const subjectOf = ({ type, source, subject = null }: Omit<Envelope, "subject"> & Partial<Envelope>) => ({
  type,
  source,
  subject,
});

function RecentEvents({ events, mayLook }: { events: readonly Recently[]; mayLook: boolean }) {
  if (events.length === 0) return <NoRecent mayLook={mayLook} />;
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
            <EventState state={event.state} matched={event.matched_count} />
            <span className="faint small">
              <Time at={event.accepted_at} />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function NoRecent({ mayLook }: { mayLook: boolean }) {
  return (
    <Empty
      icon={mayLook ? Radio : MailX}
      title={mayLook ? "No events yet" : "Only admins see all events"}
      action={mayLook && <ButtonLink label="Publish an event" to="/events?publish=1" icon={Send} />}
    >
      {mayLook && "Publish an event here, from an agent, or through a webhook under Ingest."}
    </Empty>
  );
}
