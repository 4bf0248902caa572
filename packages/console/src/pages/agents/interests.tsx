import type { Agent, Interest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../../ui/badge.tsx";
import { IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import { Filter, Pencil, Trash2 } from "../../ui/icons.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { FilterText } from "../../ui/text.tsx";
import { InterestForm } from "./interest-form.tsx";
import "./agents.css";

/** The interests of an agent. */
export function Interests({ agent }: { agent: Agent }) {
  const list = useList(api.interests.list, { agent_id: agent.id }, "interests", "interest");
  const remove = useConfirmed((interest: Interest) => ({
    title: "Delete this interest?",
    text: (
      <>
        New events of <code>{interest.event_type}</code> no longer match {agent.name}. Existing deliveries are
        kept. This cannot be undone.
      </>
    ),
    action: "Delete interest",
    act: () => api.interests.delete({ agent_id: agent.id, id: interest.id }),
    done: "Interest deleted.",
    after: list.reload,
  }));
  return (
    <EditableList
      pages={list}
      label="Interests"
      columns={(edit) => columnsOf(edit, remove.run)}
      add="Add interest"
      kind="plain"
      empty={{
        icon: Filter,
        title: "No interests yet",
        text: `Add an interest to send matching events to ${agent.name}. Until then it only receives events of its channels.`,
      }}
      dialog={(interest, onClose) => (
        <InterestForm agent={agent} interest={interest} onClose={onClose} onDone={list.reload} />
      )}
    />
  );
}

type Act = (interest: Interest) => unknown;

const columnsOf = (edit: Act, remove: Act): Column<Interest>[] => [
  column("Event type", (interest) => (
    <button type="button" className="link" onClick={() => edit(interest)}>
      <code>{interest.event_type}</code>
    </button>
  )),
  column("Filter", ({ filter_expression, filter_suspended_until }) => (
    <>
      <FilterText filter={filter_expression} />
      {filter_suspended_until && <Badge label="Suspended: too expensive" tone="warn" />}
    </>
  )),
  wideEndColumn("Priority", ({ priority }) => priority),
  wideColumn("Memories", ({ enrichment_depth }) => (
    <span className="muted">{capitalised(enrichment_depth)}</span>
  )),
  endColumn("", (interest) => (
    <>
      <IconButton
        icon={Pencil}
        label={`Edit interest ${interest.event_type}`}
        onClick={() => edit(interest)}
      />
      <IconButton
        icon={Trash2}
        label={`Delete interest ${interest.event_type}`}
        onClick={() => remove(interest)}
      />
    </>
  )),
];
