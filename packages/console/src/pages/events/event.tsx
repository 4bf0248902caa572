import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import type { EventReceiver, EventsGetResult, Interest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { fullTime, number, plural } from "../../data/format.ts";
import { useLoad, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { ActButton } from "../../ui/form-dialog.tsx";
import { Ban, Inbox, RotateCw, Trash2 } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Card, Empty, FactsCard } from "../../ui/page.tsx";
import { Id, Json, Subject, Who } from "../../ui/text.tsx";
import { Bulk, type BulkAction } from "../dead-letters/bulk.tsx";
import { FoldedLog } from "./log.tsx";
import { DeliveryState, Outcome, Timeline } from "./timeline.tsx";
import "./events.css";

export function Event() {
  const { id = "" } = useParams();
  const navigate = useNavigate();
  const event = useRead(api.events.get, { event_id: id }, "event");
  return (
    <DetailPage
      of={event}
      kind="Event"
      above={{ "/events": "Events" }}
      titleOf={({ payload }) => payload.type}
      stateOf={(event) => <Outcome of={event} />}
      actionsOf={({ state }) => {
        if (state === "waiting")
          return (
            <ActButton
              label="Cancel event"
              kind="remove"
              icon={Ban}
              title="Cancel this event?"
              text="It is deleted and never delivered. This cannot be undone."
              action="Cancel event"
              act={() => api.events.cancel({ event_id: id })}
              done="Event cancelled."
              after={() => navigate("/events")}
            />
          );
        return (
          state === "parked" && (
            <ActButton
              label="Retry matching"
              icon={RotateCw}
              act={() => api.events.retry({ event_id: id })}
              done="Matching restarted."
            />
          )
        );
      }}
      lines={8}
    >
      {(data) => <Story event={data} />}
    </DetailPage>
  );
}

function Story({ event }: { event: EventsGetResult }) {
  const { payload, deliveries, receivers } = event;
  return (
    <div className="stack loose">
      <FactsCard
        wide="Deliveries"
        of={{
          Deliveries: (
            <>
              {number(deliveries.dlq)} dead-lettered, {number(deliveries.pending)} pending,{" "}
              {number(deliveries.acknowledged)} acknowledged
            </>
          ),
          Subject: <Subject event={payload} />,
          Source: payload.source,
          Accepted: fullTime(event.accepted_at),
          "Waits until": event.waits_until && fullTime(event.waits_until),
          "Event ID": <Id>{event.event_id}</Id>,
          "Producer's ID": <Id>{payload.id}</Id>,
          "Published by": <Publisher id={event.publisher_id} />,
          Duplicates: event.duplicate_sources > 0 && (
            <>{number(event.duplicate_sources)} from other sources</>
          ),
        }}
      />
      <div className="sides">
        <div className="stack">
          <Card title="Timeline">
            <Timeline entries={event.timeline} />
          </Card>
          {receivers?.length === 0 && !["accepted", "waiting"].includes(event.state) && (
            <Empty icon={Inbox} title="No receivers" action={<ButtonLink label="View agents" to="/agents" />}>
              No interest or feed matched this event. A new interest applies only to later events.
            </Empty>
          )}
          {receivers?.toSorted(worstFirst).map((receiver) => (
            <Card
              key={receiver.delivery_id}
              title={<Who id={receiver.agent_id} />}
              actions={
                <>
                  <span className="faint small">{plural(receiver.attempt_count, "attempt")}</span>
                  <DeliveryState state={receiver.state} />
                </>
              }
            >
              <div className="stack">
                <Why agent_id={receiver.agent_id} matched={receiver.matched} />
                <Timeline entries={receiver.timeline} />
                {receiver.attempt_count > 0 && (
                  <FoldedLog agent_id={receiver.agent_id} delivery_id={receiver.delivery_id} />
                )}
                {receiver.state === "dead" && <DeadActions delivery_id={receiver.delivery_id} />}
              </div>
            </Card>
          ))}
        </div>
        <Card title="Envelope">
          <Json value={payload} label="event" />
        </Card>
      </div>
    </div>
  );
}

const WORST = ["dead", "pending"];

const worstFirst = (a: EventReceiver, b: EventReceiver) => rankOf(b) - rankOf(a);
const rankOf = ({ state }: EventReceiver) => WORST.toReversed().indexOf(state);

function Publisher({ id }: { id: string | null }) {
  const { user } = useSession();
  if (id === null) return "A webhook, a connector or the service";
  if (id === user.id) return "You";
  return <Who id={id} />;
}

function DeadActions({ delivery_id }: { delivery_id: string }) {
  const [action, setAction] = useState<BulkAction>();
  const close = () => setAction(undefined);
  return (
    <div className="row end">
      <Button label="Discard" small kind="remove" icon={Trash2} onClick={() => setAction("discard")} />
      <Button label="Replay" small icon={RotateCw} onClick={() => setAction("replay")} />
      {action && <Bulk action={action} wanted={{ ids: [delivery_id] }} onClose={close} onDone={close} />}
    </div>
  );
}

/** The interests and feeds that matched, as they are now. */
function Why({ agent_id, matched }: { agent_id: string; matched: EventReceiver["matched"] }) {
  const { interest_ids, feed_ids } = matched;
  const { data: interests } = useLoad(
    async (signal) => {
      const all = new Map<string, Interest>();
      for await (const each of api.interests.list.all({ agent_id, limit: 200 }, { signal }))
        all.set(each.id, each);
      return all;
    },
    [agent_id],
  );
  if (interest_ids.length + feed_ids.length === 0) return null;
  return (
    <ul className="why">
      {interest_ids.map((id) => {
        const interest = interests?.get(id);
        return (
          <li key={id}>
            <span className="faint">Interest</span>{" "}
            <code>{interest?.event_type ?? (interests ? "deleted" : "…")}</code>
            {interest?.filter_expression && (
              <>
                {" "}
                <span className="faint">where</span> <code>{interest.filter_expression}</code>
              </>
            )}
          </li>
        );
      })}
      {feed_ids.map((id) => (
        <ByFeed key={id} feed_id={id} />
      ))}
    </ul>
  );
}

function ByFeed({ feed_id }: { feed_id: string }) {
  const { data } = useLoad(
    async (signal) => {
      const [channel] = (await api.channels.list({ feed_id }, { signal })).channels;
      if (!channel) return null;
      for await (const feed of api.channels.listFeeds.all({ channel_id: channel.id, limit: 200 }, { signal }))
        if (feed.id === feed_id) return { channel, feed };
      return null;
    },
    [feed_id],
  );
  if (!data) {
    return (
      <li>
        <span className="faint">Channel feed</span> <code>{data === null ? "deleted" : "…"}</code>
      </li>
    );
  }
  const { channel, feed } = data;
  return (
    <li>
      <span className="faint">Channel</span> <Link to={`/channels/${channel.id}`}>{channel.name}</Link>
      <span className="faint">, feed</span> <code>{feed.event_type_glob}</code>
      {feed.filter_expression && (
        <>
          {" "}
          <span className="faint">where</span> <code>{feed.filter_expression}</code>
        </>
      )}
    </li>
  );
}
