import { Link, useParams, useSearchParams } from "react-router";
import type { EventsTypeResult, EventTypeListener, EventTypeSummary } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number, plural } from "../../data/format.ts";
import { useList, useRead } from "../../data/queries.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Bot, Radio, Tag } from "../../ui/icons.tsx";
import { DetailPage, ListPage } from "../../ui/list-page.tsx";
import { Card, Empty, Facts } from "../../ui/page.tsx";
import {
  type Column,
  column,
  endColumn,
  RowLink,
  Table,
  wideColumn,
  wideEndColumn,
} from "../../ui/table.tsx";
import { Json, Time, Who } from "../../ui/text.tsx";

type Source = EventTypeSummary["sources"][number];

const pageOf = (type: string) => `/events/types/${encodeURIComponent(type)}`;

/** Returns the list of a type's events: a type may contain characters that a glob gives a meaning. */
const eventsOf = (type: string) => `/events?type=${encodeURIComponent(type.replace(/[*?[]/g, "[$&]"))}`;

const COLUMNS: Column<EventTypeSummary>[] = [
  column("Type", ({ type }) => (
    <RowLink to={pageOf(type)} className="break">
      {type}
    </RowLink>
  )),
  wideColumn("Sources", ({ sources: [first, ...others] }) => (
    <span className="muted break">
      {first?.source}
      {others.length > 0 && ` and ${others.length} more`}
    </span>
  )),
  column("Listeners", ({ listeners }) =>
    listeners === 0 ? <span className="muted">Nobody</span> : plural(listeners, "agent"),
  ),
  wideEndColumn("Events", ({ type, count }) => (
    <Link to={eventsOf(type)} aria-label={`${number(count)} events of ${type}`}>
      {number(count)}
    </Link>
  )),
  endColumn("Last seen", ({ last_seen_at }) => <Time at={last_seen_at} />),
];

/** The types that events have had, the one seen last first. */
export function EventTypes() {
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Event types"
      lead="Every type of event seen so far: who publishes it, when it was last seen, and how many agents listen. Without the service's own events."
      searched
      pages={useList(api.events.types, q ? { search: q } : {}, "event types", "event")}
      columns={COLUMNS}
      icon={Tag}
      none="A type is listed here as soon as an event has it. Publish an event, or connect a webhook or a broker that does."
    />
  );
}

export function EventTypePage() {
  const { type = "" } = useParams();
  return (
    <DetailPage
      of={useRead(api.events.type, { type }, "event")}
      kind="Event type"
      above={{ "/events": "Events", "/events/types": "Event types" }}
      titleOf={() => type}
      leadOf={({ count, first_seen_at }) => (
        <>
          {plural(count, "event")} since <Time at={first_seen_at} />.
        </>
      )}
      actionsOf={() => <ButtonLink label="Show events" to={eventsOf(type)} icon={Radio} />}
    >
      {(data) => (
        <div className="stack">
          <div className="grid-2">
            <Listeners of={data} />
            <Card title="Sources" flush>
              <Table
                label="Sources"
                rows={data.sources}
                keyOf={({ source }) => source}
                columns={[
                  column("Source", ({ source }: Source) => <span className="break">{source}</span>),
                  endColumn("Last seen", ({ last_seen_at }: Source) => <Time at={last_seen_at} />),
                ]}
              />
            </Card>
          </div>
          <LastEvent of={data} />
        </div>
      )}
    </DetailPage>
  );
}

function Listeners({ of: { listening } }: { of: EventsTypeResult }) {
  return (
    <Card title="Listeners" flush>
      {listening.length === 0 ? (
        <Empty icon={Bot} title="No agent listens">
          Events of this type are stored and delivered to nobody. Add an interest to an agent, or a feed to a
          channel.
        </Empty>
      ) : (
        <Table
          label="Listeners"
          rows={listening}
          columns={[
            column("Agent", ({ agent_id }: EventTypeListener) => <Who id={agent_id} />),
            column("By", ({ interest_ids, feed_ids }: EventTypeListener) =>
              [
                interest_ids.length > 0 && plural(interest_ids.length, "interest"),
                feed_ids.length > 0 && plural(feed_ids.length, "feed"),
              ]
                .filter(Boolean)
                .join(", "),
            ),
          ]}
        />
      )}
    </Card>
  );
}

function LastEvent({ of: { last_event } }: { of: EventsTypeResult }) {
  if (!last_event) return null;
  const { event_id, accepted_at, payload } = last_event;
  return (
    <Card title="Latest event" actions={<ButtonLink label="Open event" to={`/events/${event_id}`} small />}>
      <div className="stack">
        <Facts
          of={{ Accepted: <Time at={accepted_at} />, Source: payload.source, Subject: payload.subject }}
        />
        <Json value={payload.data ?? payload} label="Data" />
      </div>
    </Card>
  );
}
