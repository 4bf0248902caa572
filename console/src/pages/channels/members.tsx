import { Plus, UserMinus, Users } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import type { Member } from "../../../../client/index.ts";
import { useAgents } from "../../data/agents.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";

/** Who gets what comes into a channel. */
export function Members({ channel_id }: { channel_id: string }) {
  const [adding, setAdding] = useState(false);
  const agents = useAgents();
  const list = useLoad(
    (signal) => api.channels.listMembers({ channel_id, limit: 200 }, { signal }),
    [channel_id],
  );
  const nameOf = (id: string) => agents.get(id)?.name ?? id;
  const remove = useTask(async ({ agent_id }: Member) => {
    const name = nameOf(agent_id);
    const text = `${name} gets no more events by this channel. Its own interests stay.`;
    if (!(await confirm({ title: `Remove ${name}?`, text, action: "Remove" }))) return;
    await api.channels.removeMember({ channel_id, agent_id });
    await list.reload();
  });
  const members = new Set(list.data?.members.map(({ agent_id }) => agent_id));
  const others = [...agents.values()].filter(({ id, status }) => status === "active" && !members.has(id));
  return (
    <Card
      title="Members"
      flush
      actions={
        <Button small icon={Plus} disabled={others.length === 0} onClick={() => setAdding(true)}>
          Add member
        </Button>
      }
    >
      <List
        items={list.data?.members}
        error={list.error}
        loading={list.loading}
        reload={list.reload}
        label="Members"
        keyOf={(member) => member.agent_id}
        columns={[
          {
            name: "Agent",
            cell: ({ agent_id }) => <Link to={`/agents/${agent_id}`}>{nameOf(agent_id)}</Link>,
          },
          { name: "Joined", end: true, cell: ({ joined_at }) => <Time at={joined_at} /> },
          {
            name: "",
            end: true,
            cell: (member) => (
              <IconButton
                icon={UserMinus}
                label={`Remove ${nameOf(member.agent_id)}`}
                onClick={() => remove.run(member)}
              />
            ),
          },
        ]}
        empty={
          <Empty icon={Users} title="No members">
            Agents join by themselves, or are added here.
          </Empty>
        }
      />
      {adding && (
        <AddMember
          channel_id={channel_id}
          agents={others}
          onClose={() => setAdding(false)}
          onAdded={async () => {
            setAdding(false);
            await list.reload();
          }}
        />
      )}
    </Card>
  );
}

interface AddProps {
  channel_id: string;
  agents: { id: string; name: string }[];
  onClose(): void;
  onAdded(): unknown;
}

function AddMember({ channel_id, agents, onClose, onAdded }: AddProps) {
  const [id, setId] = useState(agents[0]?.id ?? "");
  const add = useTask(
    async () => {
      await api.channels.addMember({ channel_id, agent_id: id });
      await onAdded();
    },
    { quiet: true },
  );
  return (
    <FormDialog
      title="Add a member"
      submit="Add"
      onClose={onClose}
      onSubmit={() => add.run()}
      busy={add.busy}
      error={add.error}
    >
      <SelectField
        label="Agent"
        value={id}
        onChange={setId}
        options={agents.map(({ id: value, name }) => ({ value, label: name }))}
      />
    </FormDialog>
  );
}
