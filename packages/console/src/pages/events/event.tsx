import { useNavigate, useParams } from "react-router";
import type { EventsGetResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { fullTime, number } from "../../data/format.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Ban, Inbox, RotateCw } from "../../ui/icons.tsx";
import { Card, Empty, Facts } from "../../ui/page.tsx";
import { Subject } from "../../ui/subject.tsx";
import { Id, Json } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Who } from "../../ui/who.tsx";
import { Receiver } from "./receiver.tsx";
import { EventState } from "./state.tsx";
import "./events.css";
import { Timeline } from "./timeline.tsx";

/** One event: from publication to each acknowledgement, and why each receiver got it. */
export function Event() {
  const { id = "" } = useParams();
  const event = useFollowed("event", (signal) => api.events.get({ event_id: id }, { signal }), [id]);
  return (
    <DetailPage
      of={event}
      kind="Event"
      above={{ "/events": "Events" }}
      titleOf={({ payload }) => payload.type}
      stateOf={({ state, matched_count }) => <EventState state={state} matched={matched_count} />}
      actionsOf={({ state }) => {
        if (state === "parked") return <Retry id={id} done={event.reload} />;
        return state === "waiting" && <Cancel id={id} />;
      }}
      lines={8}
    >
      {(data) => <Story event={data} reload={event.reload} />}
    </DetailPage>
  );
}

function Story({ event, reload }: { event: EventsGetResult; reload(): Promise<void> }) {
  const { payload, deliveries, receivers } = event;
  return (
    <div className="stack loose">
      <Card>
        <Facts
          wide="Deliveries"
          of={{
            Subject: <Subject event={payload} />,
            Source: payload.source,
            Accepted: fullTime(event.accepted_at),
            "Waits until": event.waits_until && fullTime(event.waits_until),
            "Event ID": <Id>{event.event_id}</Id>,
            "Producer's ID": <Id>{payload.id}</Id>,
            "Published by": <Publisher id={event.publisher_id} />,
            Deliveries: (
              <>
                {number(deliveries.acknowledged)} acknowledged, {number(deliveries.pending)} pending,{" "}
                {number(deliveries.dlq)} dead-lettered
              </>
            ),
            Duplicates: event.duplicate_sources > 0 && (
              <>{number(event.duplicate_sources)} from other sources</>
            ),
          }}
        />
      </Card>
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
          {receivers?.map((receiver) => (
            <Receiver key={receiver.delivery_id} receiver={receiver} reload={reload} />
          ))}
        </div>
        <Card title="Envelope">
          <Json value={payload} label="event" />
        </Card>
      </div>
    </div>
  );
}

function Publisher({ id }: { id: string | null }) {
  const { user } = useSession();
  if (id === null) return "A webhook, a connector or the service";
  if (id === user.id) return "You";
  return <Who id={id} />;
}

function Cancel({ id }: { id: string }) {
  const navigate = useNavigate();
  const cancel = useConfirmed(() => ({
    title: "Cancel this event?",
    text: "It is deleted and never delivered. This cannot be undone.",
    action: "Cancel event",
    act: () => api.events.cancel({ event_id: id }),
    done: "Event cancelled.",
    after: () => navigate("/events"),
  }));
  return (
    <Button label="Cancel event" kind="remove" icon={Ban} busy={cancel.busy} onClick={() => cancel.run()} />
  );
}

function Retry({ id, done }: { id: string; done(): Promise<void> }) {
  const retry = useTask(async () => {
    await api.events.retry({ event_id: id });
    toast({ title: "Matching restarted." });
    await done();
  });
  return <Button label="Retry matching" icon={RotateCw} busy={retry.busy} onClick={() => retry.run()} />;
}
