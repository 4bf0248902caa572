import { useState } from "react";
import { Link } from "react-router";
import type { EventReceiver, Interest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { plural } from "../../data/format.ts";
import { useLoad } from "../../data/use-load.ts";
import { Button } from "../../ui/button.tsx";
import { RotateCw, Trash2 } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";
import { Who } from "../../ui/who.tsx";
import { Bulk, type BulkAction } from "../dead-letters/bulk.tsx";
import { DeliveryState } from "./state.tsx";
import { Timeline } from "./timeline.tsx";

/** One receiver of an event: the state of its delivery, and why it was delivered. */
export function Receiver({ receiver, reload }: { receiver: EventReceiver; reload(): Promise<void> }) {
  const { delivery_id, agent_id, state, attempt_count, matched, timeline } = receiver;
  return (
    <Card
      title={<Who id={agent_id} />}
      actions={
        <>
          <span className="faint small">{plural(attempt_count, "attempt")}</span>
          <DeliveryState state={state} />
        </>
      }
    >
      <div className="stack">
        <Why agent_id={agent_id} matched={matched} />
        <Timeline entries={timeline} />
        {state === "dead" && <DeadActions delivery_id={delivery_id} done={reload} />}
      </div>
    </Card>
  );
}

/** What to do with a dead-lettered delivery. */
function DeadActions({ delivery_id, done }: { delivery_id: string; done(): Promise<void> }) {
  const [action, setAction] = useState<BulkAction>();
  const finish = async () => {
    setAction(undefined);
    await done();
  };
  return (
    <div className="row end">
      <Button label="Discard" small kind="remove" icon={Trash2} onClick={() => setAction("discard")} />
      <Button label="Replay" small icon={RotateCw} onClick={() => setAction("replay")} />
      {action && (
        <Bulk
          action={action}
          wanted={{ ids: [delivery_id] }}
          onClose={() => setAction(undefined)}
          onDone={finish}
        />
      )}
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
