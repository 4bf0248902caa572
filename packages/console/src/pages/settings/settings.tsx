import type { Team } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useSaving } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Users } from "../../ui/icons.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, wideColumn } from "../../ui/table.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { Audit } from "../audit/audit.tsx";
import { Account } from "./account.tsx";
import { Limits } from "./limits.tsx";
import { People } from "./people.tsx";
import { Projects } from "./projects.tsx";
import "./settings.css";

const PARTS: Tab[] = [
  { key: "people", label: "People", needs: "users.list", content: <People /> },
  { key: "teams", label: "Teams", needs: "teams.list", content: <Teams /> },
  { key: "projects", label: "Projects", content: <Projects /> },
  { key: "limits", label: "Limits", content: <Limits /> },
  { key: "audit", label: "Audit log", needs: "audit.list", content: <Audit /> },
  { key: "account", label: "Your account", content: <Account /> },
];

/** The organisation: people, projects, audit log, and the person's account. */
export function Settings() {
  const { tenant } = useSession();
  return (
    <Page title="Settings" lead={tenant.name}>
      <Tabs label="Settings" tabs={PARTS} />
    </Page>
  );
}

const COLUMNS: Column<Team>[] = [
  column("Team", ({ name }) => <strong>{name}</strong>),
  wideColumn("Description", ({ description }) => <span className="muted">{description ?? "–"}</span>),
  wideColumn("ID", ({ id }) => <Id>{id}</Id>),
  endColumn("Created", ({ created_at }) => <Time at={created_at} />),
];

/** Agents of a team read each other's memories of scope `team`. */
function Teams() {
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
