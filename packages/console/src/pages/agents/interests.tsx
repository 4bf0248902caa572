import { Filter, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Agent, Interest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/page.tsx";
import { List } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.tsx";
import { InterestForm } from "./interest-form.tsx";
import "./agents.css";

/** The interests of an agent. */
export function Interests({ agent }: { agent: Agent }) {
  const [editing, setEditing] = useState<Interest | "new">();
  const list = useList(api.interests.list, { agent_id: agent.id });
  const remove = useTask(async (interest: Interest) => {
    const sure = await confirm({
      title: "Delete this interest?",
      text: (
        <>
          From now on no event reaches {agent.name} by <code>{interest.event_type}</code>. What was matched
          already stays to be delivered.
        </>
      ),
      action: "Delete interest",
    });
    if (!sure) return;
    await api.interests.delete({ agent_id: agent.id, id: interest.id });
    toast({ title: "The interest is deleted." });
    await list.reload();
  });
  const add = (
    <Button icon={Plus} onClick={() => setEditing("new")}>
      Add interest
    </Button>
  );
  return (
    <>
      <List
        pages={list}
        actions={add}
        label="Interests"
        columns={[
          {
            name: "Event type",
            cell: (interest) => (
              <button type="button" className="link" onClick={() => setEditing(interest)}>
                <code>{interest.event_type}</code>
              </button>
            ),
          },
          {
            name: "Filter",
            cell: (interest) => (
              <>
                {interest.filter_expression ? (
                  <code className="break">{interest.filter_expression}</code>
                ) : (
                  <span className="faint">every one</span>
                )}
                {interest.filter_suspended_until && <Badge tone="warn">set aside: too costly</Badge>}
              </>
            ),
          },
          { name: "Priority", end: true, wideOnly: true, cell: (interest) => interest.priority },
          {
            name: "Memories",
            wideOnly: true,
            cell: (interest) => <span className="muted">{interest.enrichment_depth}</span>,
          },
          {
            name: "",
            end: true,
            cell: (interest) => (
              <IconButton
                icon={Trash2}
                label={`Delete the interest in ${interest.event_type}`}
                onClick={() => remove.run(interest)}
              />
            ),
          },
        ]}
        empty={
          <Empty icon={Filter} title="No interests yet" action={add}>
            Without one, events reach {agent.name} only by the channels it is a member of.
          </Empty>
        }
      />
      {editing && (
        <InterestForm
          agent={agent}
          interest={editing === "new" ? undefined : editing}
          onClose={() => setEditing(undefined)}
          onSaved={async () => {
            setEditing(undefined);
            await list.reload();
          }}
        />
      )}
    </>
  );
}
