import { Hash, Plus } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { ChannelForm } from "./channel-form.tsx";

export function Channels() {
  const [search, setSearch] = useSearchParams();
  const [size, setSize] = useState(100);
  const navigate = useNavigate();
  const list = useLoad((signal) => api.channels.list({ limit: size }, { signal }), [size]);
  const { data } = list;
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setSearch({ create: "1" })}>
      New channel
    </Button>
  );
  return (
    <Page
      title="Channels"
      lead="Events for whoever is a member: feeds say which, members get them all."
      actions={create}
    >
      <List
        items={data?.channels}
        error={list.error}
        loading={list.loading}
        reload={list.reload}
        more={data && data.total > data.channels.length && size < 200 ? async () => setSize(200) : undefined}
        label="Channels"
        keyOf={(channel) => channel.id}
        linkOf={(channel) => `/channels/${channel.id}`}
        columns={[
          { name: "Name", cell: (channel) => <Link to={`/channels/${channel.id}`}>{channel.name}</Link> },
          {
            name: "Description",
            cell: (channel) => <span className="muted">{channel.description ?? "—"}</span>,
          },
          { name: "Made", end: true, wideOnly: true, cell: (channel) => <Time at={channel.created_at} /> },
        ]}
        empty={
          <Empty icon={Hash} title="No channels yet" action={create}>
            A channel spares each agent an interest of its own: one feed serves all members.
          </Empty>
        }
      />
      {search.get("create") && (
        <ChannelForm onClose={() => setSearch({})} onSaved={({ id }) => navigate(`/channels/${id}`)} />
      )}
    </Page>
  );
}
