import { Users } from "lucide-react";
import type { Team } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useSaving } from "../../data/use-task.ts";
import { EditableList } from "../../ui/editable-list.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import type { Column } from "../../ui/table.tsx";
import { Id, Time } from "../../ui/text.tsx";

const COLUMNS: Column<Team>[] = [
  { name: "Team", cell: ({ name }) => <strong>{name}</strong> },
  {
    name: "Description",
    cell: ({ description }) => <span className="muted">{description ?? "–"}</span>,
    wideOnly: true,
  },
  { name: "ID", cell: ({ id }) => <Id>{id}</Id>, wideOnly: true },
  { name: "Created", cell: ({ created_at }) => <Time at={created_at} />, end: true },
];

/** Agents of a team read each other's memories of scope `team`. */
export function Teams() {
  const pages = useList(api.teams.list, {}, "teams", "team");
  return (
    <EditableList
      pages={pages}
      label="Teams"
      columns={COLUMNS}
      add="Create team"
      empty={{
        icon: Users,
        title: "No teams yet",
        text: "Agents of a team share memories and documents that others cannot see. Set an agent’s team in its settings.",
      }}
      dialog={(_, onClose) => <AddDialog onClose={onClose} onDone={pages.reload} />}
    />
  );
}

function AddDialog({ onClose, onDone }: SavingProps) {
  const [{ name, description }, field] = useDraft({ name: "", description: "" });
  const add = useSaving({ onClose, onDone }, async () => {
    await api.teams.create({
      name: name.trim(),
      ...(description.trim() && { description: description.trim() }),
    });
  });
  return (
    <FormDialog title="New team" submit="Create team" onClose={onClose} task={add}>
      <TextField label="Name" {...field("name")} required maxLength={200} />
      <TextField label="Description" {...field("description")} />
    </FormDialog>
  );
}
