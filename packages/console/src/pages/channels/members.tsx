import { Plus, UserMinus, Users } from "lucide-react";
import { useState } from "react";
import type { Member } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { findAgents } from "../../data/find.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useNames } from "../../data/use-names.ts";
import { useSaving, useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Card, Empty } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";

/** The recipients of a channel's events. */
export function Members({ channel_id }: { channel_id: string }) {
  const [adding, setAdding] = useState(false);
  const nameOf = useNames();
  const list = useList(api.channels.listMembers, { channel_id }, undefined, "channel");
  const remove = useTask(async ({ agent_id }: Member) => {
    const name = nameOf(agent_id);
    const text = `${name} no longer receives events through this channel. Its own interests are kept. You can add it again.`;
    if (!(await confirm({ title: `Remove ${name}?`, text, action: "Remove" }))) return;
    await api.channels.removeMember({ channel_id, agent_id });
    await list.reload();
  });
  return (
    <Card
      title="Members"
      flush
      actions={
        <Button small icon={Plus} onClick={() => setAdding(true)}>
          Add member
        </Button>
      }
    >
      <List
        pages={list}
        label="Members"
        keyOf={(member) => member.agent_id}
        columns={[
          {
            name: "Agent",
            cell: ({ agent_id }) => <Who id={agent_id} />,
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
          <Empty icon={Users} title="No members yet">
            Add an agent, or let agents join by themselves.
          </Empty>
        }
      />
      {adding && <AddMember channel_id={channel_id} onClose={() => setAdding(false)} onDone={list.reload} />}
    </Card>
  );
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
