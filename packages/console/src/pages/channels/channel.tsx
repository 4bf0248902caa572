import { Pencil } from "lucide-react";
import { useState } from "react";
import { useParams } from "react-router";
import { api } from "../../data/api.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteButton } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { ChannelForm } from "./channel-form.tsx";
import { Feeds } from "./feeds.tsx";
import { Members } from "./members.tsx";

export function Channel() {
  const { id = "" } = useParams();
  const channel = useFollowed("channel", (signal) => api.channels.get({ channel_id: id }, { signal }), [id]);
  const [editing, setEditing] = useState(false);
  return (
    <DetailPage
      of={channel}
      kind="Channel"
      above={{ "/channels": "Channels" }}
      titleOf={({ name }) => name}
      leadOf={({ description }) => description}
      actionsOf={({ name }) => (
        <>
          <Button icon={Pencil} onClick={() => setEditing(true)}>
            Edit
          </Button>
          <DeleteButton
            name={name}
            text="Its feeds and memberships are deleted, and members no longer receive events through it. Existing deliveries are kept. This cannot be undone."
            action="Delete channel"
            act={() => api.channels.delete({ channel_id: id })}
            to="/channels"
          />
        </>
      )}
    >
      {(data) => (
        <>
          <div className="grid-2">
            <Feeds channel_id={id} />
            <Members channel_id={id} />
          </div>
          {editing && (
            <ChannelForm
              channel={data}
              onClose={() => setEditing(false)}
              onSaved={(saved) => {
                channel.set(saved);
                setEditing(false);
              }}
            />
          )}
        </>
      )}
    </DetailPage>
  );
}
