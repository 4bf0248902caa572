import { useNavigate, useParams, useSearchParams } from "react-router";
import type { Channel, Feed, Member } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useName } from "../../data/names.ts";
import { useList, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { DialogButton } from "../../ui/button.tsx";
import { findAgents } from "../../ui/combo.tsx";
import { area, code, combo, text, useForm } from "../../ui/form.tsx";
import { ActIcon, DeleteButton, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Hash, Pencil, Plus, Rss, Trash2, UserMinus, Users } from "../../ui/icons.tsx";
import { DetailPage, ListPage } from "../../ui/list-page.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, RowLink, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask, useSaving } from "../../ui/task.tsx";
import { FilterText, Time, Who } from "../../ui/text.tsx";

const COLUMNS: Column<Channel>[] = [
  column("Name", ({ id, name }) => <RowLink to={`/channels/${id}`}>{name}</RowLink>),
  column("Description", ({ description }) => <span className="muted">{description ?? "–"}</span>),
  wideEndColumn("Created", ({ created_at }) => <Time at={created_at} />),
];

export function Channels() {
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Channels"
      lead="A channel sends the same events to several agents: its feeds select them, and every member receives them."
      create="Create channel"
      dialog={(onClose) => <ChannelForm onClose={onClose} />}
      searched
      pages={useList(api.channels.list, q ? { search: q } : {}, "channels", "channel")}
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
            dialog={(onClose) => <ChannelForm channel={data} onClose={onClose} />}
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

function Feeds({ channel_id }: { channel_id: string }) {
  const add = (
    <DialogButton
      label="Add feed"
      small
      icon={Plus}
      dialog={(onClose) => <AddFeed channel_id={channel_id} onClose={onClose} />}
    />
  );
  return (
    <Card title="Feeds" actions={add} flush>
      <List
        pages={useList(api.channels.listFeeds, { channel_id }, undefined, "channel")}
        label="Feeds"
        columns={[
          column("Event type", (feed: Feed) => <code>{feed.event_type_glob}</code>),
          column("Filter", (feed: Feed) => <FilterText filter={feed.filter_expression} />),
          endColumn("", ({ id, event_type_glob }: Feed) => (
            <ActIcon
              icon={Trash2}
              label={`Delete feed ${event_type_glob}`}
              title="Delete this feed?"
              text={
                <>
                  Members no longer receive events of <code>{event_type_glob}</code> through this channel.
                  Existing deliveries are kept. This cannot be undone.
                </>
              }
              action="Delete feed"
              act={() => api.channels.deleteFeed({ channel_id, feed_id: id })}
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

const FEED = {
  event_type_glob: text("Event type", {
    required: true,
    autoFocus: true,
    className: "code",
    placeholder: "com.github.*",
    hint: "A glob: * matches any characters.",
  }),
  filter_expression: code("Filter (CEL)", { rows: 2, hint: "Empty: every event of the type." }),
};

function AddFeed({ channel_id, onClose }: SavingProps & { channel_id: string }) {
  const form = useForm(FEED);
  const add = useSaving(onClose, () => api.channels.createFeed({ channel_id, ...form.values() }));
  return <FormDialog title="New feed" submit="Add feed" onClose={onClose} task={add} form={form} />;
}

function Members({ channel_id }: { channel_id: string }) {
  return (
    <Card
      title="Members"
      flush
      actions={
        <DialogButton
          label="Add member"
          small
          icon={Plus}
          dialog={(onClose) => <AddMember channel_id={channel_id} onClose={onClose} />}
        />
      }
    >
      <List
        pages={useList(api.channels.listMembers, { channel_id }, undefined, "channel")}
        label="Members"
        columns={[
          column("Agent", ({ agent_id }: Member) => <Who id={agent_id} />),
          endColumn("Joined", ({ joined_at }: Member) => <Time at={joined_at} />),
          endColumn("", (member: Member) => <RemoveMember channel_id={channel_id} member={member} />),
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

function RemoveMember({ channel_id, member: { agent_id } }: { channel_id: string; member: Member }) {
  const { name } = useName(agent_id);
  return (
    <ActIcon
      icon={UserMinus}
      label={`Remove ${name}`}
      title={`Remove ${name}?`}
      text={`${name} no longer receives events through this channel. Its own interests are kept. You can add it again.`}
      action="Remove"
      act={() => api.channels.removeMember({ channel_id, agent_id })}
    />
  );
}

const MEMBER = {
  agent: combo("Agent", { find: findAgents }),
  id: text("Agent", {
    className: "code",
    required: true,
    placeholder: "ag_…",
    hint: "The agent's ID. Admins can look it up.",
  }),
};

function AddMember({ channel_id, onClose }: SavingProps & { channel_id: string }) {
  const { may } = useSession();
  const form = useForm(MEMBER);
  const by = may("agents.list") ? "agent" : "id";
  const agent_id = form.values()[by];
  const add = useSaving(onClose, async () => {
    if (agent_id) await api.channels.addMember({ channel_id, agent_id });
  });
  return (
    <FormDialog title="Add member" submit="Add member" disabled={!agent_id} onClose={onClose} task={add}>
      {form.show(by)}
    </FormDialog>
  );
}

const CHANNEL = {
  name: text("Name", { required: true, placeholder: "deployments", hint: "Must be unique." }),
  description: area("Description", { rows: 2 }),
};

/** Edits a channel, or creates one. */
function ChannelForm({ channel, onClose }: SavingProps & { channel?: Channel }) {
  const form = useForm(CHANNEL, channel);
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const saved = channel
      ? await form.save(api.channels, { channel_id: channel.id }, `/channels/${channel.id}`)
      : await api.channels.create(form.values());
    if (!saved) return;
    toast({ title: channel ? "Saved." : `${saved.name} created.` });
    if (channel) onClose();
    else navigate(`/channels/${saved.id}`, { replace: true });
  });
  return (
    <FormDialog
      title={channel ? "Edit channel" : "New channel"}
      submit={channel ? "Save" : "Create channel"}
      onClose={onClose}
      task={save}
      form={form}
    />
  );
}
