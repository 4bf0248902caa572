import { Link, useNavigate, useSearchParams } from "react-router";
import type { Channel } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/use-list.ts";
import { Hash } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { type Column, column, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { ChannelForm } from "./channel-form.tsx";

const COLUMNS: Column<Channel>[] = [
  column("Name", ({ id, name }) => <Link to={`/channels/${id}`}>{name}</Link>),
  column("Description", ({ description }) => <span className="muted">{description ?? "–"}</span>),
  wideEndColumn("Created", ({ created_at }) => <Time at={created_at} />),
];

export function Channels() {
  const navigate = useNavigate();
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Channels"
      lead="Feeds select a channel's events; every member receives them."
      create="Create channel"
      dialog={(onClose) => (
        <ChannelForm onClose={onClose} onSaved={({ id }) => navigate(`/channels/${id}`, { replace: true })} />
      )}
      searched
      pages={useList(api.channels.list, q ? { search: q } : {}, "channels", "channel")}
      linkOf={({ id }) => `/channels/${id}`}
      columns={COLUMNS}
      icon={Hash}
      none="Create a channel to send the same events to several agents."
    />
  );
}
