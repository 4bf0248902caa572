import { Link, useNavigate } from "react-router";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { Button } from "../../ui/button.tsx";
import { Hash, Plus } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { ChannelForm } from "./channel-form.tsx";

export function Channels() {
  const [search, change] = useAddress();
  const navigate = useNavigate();
  const q = search.get("q") ?? "";
  const pages = useList(api.channels.list, q ? { search: q } : {}, "channels", "channel");
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => change({ create: "1" })}>
      Create channel
    </Button>
  );
  return (
    <Page
      title="Channels"
      lead="Feeds select a channel's events; every member receives them."
      actions={create}
    >
      <div className="list-bar">
        <ListSearch label="Search channels" />
      </div>
      <List
        pages={pages}
        label="Channels"
        linkOf={(channel) => `/channels/${channel.id}`}
        columns={[
          { name: "Name", cell: (channel) => <Link to={`/channels/${channel.id}`}>{channel.name}</Link> },
          {
            name: "Description",
            cell: (channel) => <span className="muted">{channel.description ?? "–"}</span>,
          },
          { name: "Created", end: true, wideOnly: true, cell: (channel) => <Time at={channel.created_at} /> },
        ]}
        empty={
          <Empty
            icon={Hash}
            title={q ? `No channels match “${q}”` : "No channels yet"}
            action={q ? <Button onClick={() => change({ q: null })}>Show all</Button> : create}
          >
            {!q && "Create a channel to send the same events to several agents."}
          </Empty>
        }
      />
      {search.get("create") && (
        <ChannelForm
          onClose={() => change({ create: null })}
          onSaved={({ id }) => navigate(`/channels/${id}`)}
        />
      )}
    </Page>
  );
}
