import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { api } from "../../data/api.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Pencil, Trash2 } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.tsx";
import { ChannelForm } from "./channel-form.tsx";
import { Feeds } from "./feeds.tsx";
import { Members } from "./members.tsx";

const ABOVE = [{ to: "/channels", label: "Channels" }];

export function Channel() {
  const { id = "" } = useParams();
  const navigate = useNavigate();
  const channel = useFollowed("channel", (signal) => api.channels.get({ channel_id: id }, { signal }), [id]);
  const [editing, setEditing] = useState(false);
  const { data } = channel;
  const remove = useTask(async () => {
    const sure = await confirm({
      title: `Delete ${data?.name}?`,
      text: "Its feeds and memberships are deleted, and members no longer receive events through it. Existing deliveries are kept. This cannot be undone.",
      action: "Delete channel",
    });
    if (!sure) return;
    await api.channels.delete({ channel_id: id });
    toast({ title: `${data?.name} deleted.` });
    navigate("/channels");
  });
  return (
    <Page
      title={data?.name ?? "Channel"}
      above={ABOVE}
      lead={data?.description}
      actions={
        data && (
          <>
            <Button icon={Pencil} onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button kind="remove" icon={Trash2} busy={remove.busy} onClick={() => remove.run()}>
              Delete
            </Button>
          </>
        )
      }
    >
      <Load of={channel}>
        {() => (
          <div className="grid-2">
            <Feeds channel_id={id} />
            <Members channel_id={id} />
          </div>
        )}
      </Load>
      {editing && data && (
        <ChannelForm
          channel={data}
          onClose={() => setEditing(false)}
          onSaved={(saved) => {
            channel.set(saved);
            setEditing(false);
          }}
        />
      )}
    </Page>
  );
}
