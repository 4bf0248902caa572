import { useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import type { Channel, Feed, Member } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useName } from "../../data/names.ts";
import { useList } from "../../data/use-list.ts";
import { useRead } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { DialogButton, IconButton } from "../../ui/button.tsx";
import { type Choice, Combo, findAgents } from "../../ui/combo.tsx";
import { CodeArea, TextArea, TextField, useDraft } from "../../ui/field.tsx";
import { DeleteButton, FormDialog, type SavingProps, saveChanges, useAct } from "../../ui/form-dialog.tsx";
import { Hash, Pencil, Plus, Rss, Trash2, UserMinus, Users } from "../../ui/icons.tsx";
import { DetailPage, ListPage } from "../../ui/list-page.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask, useSaving } from "../../ui/task.tsx";
import { FilterText, Time, Who } from "../../ui/text.tsx";

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
      lead="A channel sends the same events to several agents: its feeds select them, and every member receives them."
      create="Create channel"
      dialog={(onClose) => (
        <ChannelForm onClose={onClose} onSaved={({ id }) => navigate(`/channels/${id}`, { replace: true })} />
      )}
      searched
      pages={useList(api.channels.list, q ? { search: q } : {}, "channels", "channel")}
      linkOf={({ id }) => `/channels/${id}`}
      columns={COLUMNS}
      icon={Hash}
      none="Create a channel, add a feed for a type of event, and add agents as members. Each member receives each event of the feed."
    />
  );
}

export function ChannelPage() {
  const { id = "" } = useParams();
  const channel = useRead(api.channels.get, { channel_id: id }, "channel");
  return (
    <DetailPage
      of={channel}
      kind="Channel"
      above={{ "/channels": "Channels" }}
      titleOf={({ name }) => name}
      leadOf={({ description }) => description}
      actionsOf={(data) => (
        <>
          <DialogButton
            label="Edit"
            icon={Pencil}
            dialog={(onClose) => (
              <ChannelForm
                channel={data}
                onClose={onClose}
                onSaved={(saved) => {
                  channel.set(saved);
                  onClose();
                }}
              />
            )}
          />
          <DeleteButton
            name={data.name}
            text="Its feeds and memberships are deleted, and members no longer receive events through it. Existing deliveries are kept. This cannot be undone."
            action="Delete channel"
            act={() => api.channels.delete({ channel_id: id })}
            to="/channels"
          />
        </>
      )}
    >
      {() => (
        <div className="grid-2">
          <Feeds channel_id={id} />
          <Members channel_id={id} />
        </div>
      )}
    </DetailPage>
  );
}

/** The events that a channel receives. */
function Feeds({ channel_id }: { channel_id: string }) {
  const list = useList(api.channels.listFeeds, { channel_id }, undefined, "channel");
  const remove = useAct(({ id, event_type_glob }: Feed) => ({
    title: "Delete this feed?",
    text: (
      <>
        Members no longer receive events of <code>{event_type_glob}</code> through this channel. Existing
        deliveries are kept. This cannot be undone.
      </>
    ),
    action: "Delete feed",
    act: () => api.channels.deleteFeed({ channel_id, feed_id: id }),
    after: list.reload,
  }));
  const add = (
    <DialogButton
      label="Add feed"
      small
      icon={Plus}
      dialog={(onClose) => <AddFeed channel_id={channel_id} onClose={onClose} onDone={list.reload} />}
    />
  );
  return (
    <Card title="Feeds" actions={add} flush>
      <List
        pages={list}
        label="Feeds"
        columns={[
          column("Event type", (feed: Feed) => <code>{feed.event_type_glob}</code>),
          column("Filter", (feed: Feed) => <FilterText filter={feed.filter_expression} />),
          endColumn("", (feed: Feed) => (
            <IconButton
              icon={Trash2}
              label={`Delete feed ${feed.event_type_glob}`}
              onClick={() => remove.run(feed)}
            />
          )),
        ]}
        empty={
          <Empty icon={Rss} title="No feeds yet">
            Add a feed to select the events of this channel.
          </Empty>
        }
      />
    </Card>
  );
}

function AddFeed({ channel_id, onClose, onDone }: SavingProps & { channel_id: string }) {
  const [{ type, filter }, field] = useDraft({ type: "", filter: "" });
  const add = useSaving({ onClose, onDone }, () =>
    api.channels.createFeed({ channel_id, event_type_glob: type, filter_expression: filter || null }),
  );
  return (
    <FormDialog title="New feed" submit="Add feed" onClose={onClose} task={add}>
      <TextField
        label="Event type"
        required
        autoFocus
        className="code"
        placeholder="com.github.*"
        {...field("type")}
        hint="A glob: * matches any characters."
      />
      <CodeArea label="Filter (CEL)" rows={2} {...field("filter")} hint="Empty: every event of the type." />
    </FormDialog>
  );
}

/** The recipients of a channel's events. */
function Members({ channel_id }: { channel_id: string }) {
  const list = useList(api.channels.listMembers, { channel_id }, undefined, "channel");
  return (
    <Card
      title="Members"
      flush
      actions={
        <DialogButton
          label="Add member"
          small
          icon={Plus}
          dialog={(onClose) => <AddMember channel_id={channel_id} onClose={onClose} onDone={list.reload} />}
        />
      }
    >
      <List
        pages={list}
        label="Members"
        keyOf={(member) => member.agent_id}
        columns={[
          column("Agent", ({ agent_id }: Member) => <Who id={agent_id} />),
          endColumn("Joined", ({ joined_at }: Member) => <Time at={joined_at} />),
          endColumn("", (member: Member) => (
            <RemoveMember channel_id={channel_id} member={member} onDone={list.reload} />
          )),
        ]}
        empty={
          <Empty icon={Users} title="No members yet">
            Add an agent, or let agents join by themselves.
          </Empty>
        }
      />
    </Card>
  );
}

interface RemoveProps {
  channel_id: string;
  member: Member;
  onDone(): Promise<void>;
}

function RemoveMember({ channel_id, member: { agent_id }, onDone }: RemoveProps) {
  const { name } = useName(agent_id);
  const remove = useAct(() => ({
    title: `Remove ${name}?`,
    text: `${name} no longer receives events through this channel. Its own interests are kept. You can add it again.`,
    action: "Remove",
    act: () => api.channels.removeMember({ channel_id, agent_id }),
    after: onDone,
  }));
  return <IconButton icon={UserMinus} label={`Remove ${name}`} onClick={() => remove.run()} />;
}

function AddMember({ channel_id, onClose, onDone }: SavingProps & { channel_id: string }) {
  const [{ agent, id }, field] = useDraft({ agent: null as Choice | null, id: "" });
  const { may } = useSession();
  const chosen = may("agents.list") ? agent?.id : id.trim();
  const add = useSaving({ onClose, onDone }, async () => {
    if (chosen) await api.channels.addMember({ channel_id, agent_id: chosen });
  });
  return (
    <FormDialog title="Add member" submit="Add member" disabled={!chosen} onClose={onClose} task={add}>
      {may("agents.list") ? (
        <Combo label="Agent" {...field("agent")} find={findAgents} />
      ) : (
        <TextField
          label="Agent"
          className="code"
          required
          {...field("id")}
          placeholder="ag_…"
          hint="The agent's ID. Admins can look it up."
        />
      )}
    </FormDialog>
  );
}

interface Props {
  /** The channel to edit; without it, a new one is created. */
  channel?: Channel;
  onClose(): void;
  onSaved(channel: Channel): unknown;
}

/** Returns the saved channel; null if others changed the same fields and the person keeps theirs. */
const saveChannel = (before: Channel, wanted: Partial<Channel>) =>
  saveChanges(api.channels, { channel_id: before.id }, before, wanted, `/channels/${before.id}`);

function ChannelForm({ channel, onClose, onSaved }: Props) {
  const [before] = useState(channel);
  const [{ name, description }, field] = useDraft({
    name: channel?.name ?? "",
    description: channel?.description ?? "",
  });
  const save = useFormTask(async () => {
    const wanted = { name, description: description || null };
    const saved = before ? await saveChannel(before, wanted) : await api.channels.create(wanted);
    if (!saved) return;
    toast({ title: channel ? "Saved." : `${saved.name} created.` });
    await onSaved(saved);
  });
  return (
    <FormDialog
      title={channel ? "Edit channel" : "New channel"}
      submit={channel ? "Save" : "Create channel"}
      onClose={onClose}
      task={save}
    >
      <TextField label="Name" required {...field("name")} placeholder="deployments" hint="Must be unique." />
      <TextArea label="Description" rows={2} {...field("description")} />
    </FormDialog>
  );
}
