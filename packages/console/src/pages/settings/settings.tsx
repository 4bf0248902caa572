import { useState } from "react";
import type { Project, Team } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { optionsOf, SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog, type SavingProps, saveChanges } from "../../ui/form-dialog.tsx";
import { FolderKanban, Users } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { useSaving } from "../../ui/task.tsx";
import { Badge, Id, Time } from "../../ui/text.tsx";
import { Audit } from "../audit/audit.tsx";
import { Account } from "./account.tsx";
import { Limits } from "./limits.tsx";
import { People } from "./people.tsx";
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

const TEAM_COLUMNS: Column<Team>[] = [
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
      columns={TEAM_COLUMNS}
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

const TONE = { active: "good", completed: "info", archived: "neutral" } as const;
const STATUSES = ["active", "completed", "archived"] as const;

/** Projects, which group memories, runs and outputs. */
function Projects() {
  const { may } = useSession();
  const pages = useList(api.projects.list, {}, "projects", "project");
  return (
    <EditableList
      pages={pages}
      label="Projects"
      columns={(edit) => (may("projects.update") ? [...COLUMNS, editColumn(edit)] : COLUMNS)}
      add={may("projects.create") && "Create project"}
      empty={{
        icon: FolderKanban,
        title: "No projects yet",
        text: (
          <>
            Memories, runs and outputs refer to a project by its key, as <code>project_id</code>.
          </>
        ),
      }}
      dialog={(project, onClose) => (
        <ProjectDialog project={project} onClose={onClose} onDone={pages.reload} />
      )}
    />
  );
}

const COLUMNS: Column<Project>[] = [
  column("Key", ({ key }) => <code>{key}</code>),
  column("Name", ({ name }) => <strong>{name}</strong>),
  column("Status", ({ status }) => <Badge label={capitalised(status)} tone={TONE[status]} />),
  wideEndColumn("Target", ({ target_date }) => dayOf(target_date) ?? "–"),
];

const editColumn = (edit: (project: Project) => void): Column<Project> =>
  endColumn("", (project) => (
    <Button
      small
      kind="quiet"
      label={
        <>
          Edit <span className="visually-hidden">{project.key}</span>
        </>
      }
      onClick={() => edit(project)}
    />
  ));

const dayOf = (date: string | null) => date?.slice(0, 10) ?? null;

/** Shows the date only; saving something else keeps a time of day that a program set. */
const shown = (project: Project): Project => ({ ...project, target_date: dayOf(project.target_date) });

/** The API only offers a list. */
async function find(id: string): Promise<Project> {
  for await (const each of api.projects.list.all({ limit: 200 })) if (each.id === id) return each;
  throw new Error("Project not found. It does not exist, or was deleted.");
}

/** Returns the saved project; null if others changed the same fields and the person keeps theirs. */
function saveProject(before: Project, wanted: Partial<Project>) {
  const get = async () => shown(await find(before.id));
  const projects = { get, update: api.projects.update };
  return saveChanges(projects, { key: before.key }, shown(before), wanted, "/settings?tab=projects");
}

function ProjectDialog({ project, onClose, onDone }: SavingProps & { project: Project | undefined }) {
  const [before] = useState(project);
  const [{ key, name, status, target }, field] = useDraft({
    key: project?.key ?? "",
    name: project?.name ?? "",
    status: (project?.status ?? "active") as Project["status"],
    target: dayOf(project?.target_date ?? null) ?? "",
  });
  const save = useSaving({ onClose, onDone }, async () => {
    const parts = { status, target_date: target || null, ...(name.trim() && { name: name.trim() }) };
    if (before) {
      if (!(await saveProject(before, parts))) return false;
    } else await api.projects.create({ key: key.trim(), ...parts });
    return before ? "Saved." : `${key.trim()} created.`;
  });
  return (
    <FormDialog
      title={project ? project.name : "New project"}
      submit={project ? "Save" : "Create project"}
      onClose={onClose}
      task={save}
    >
      {!project && (
        <TextField
          label="Key"
          {...field("key")}
          required
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,99}"
          placeholder="apollo"
          hint="Letters, digits, . _ and -. Cannot be changed later."
        />
      )}
      <TextField
        label="Name"
        {...field("name")}
        maxLength={200}
        hint={project ? undefined : "Default: the key."}
      />
      <SelectField label="Status" {...field("status")} options={optionsOf(STATUSES)} />
      <TextField label="Target date" type="date" {...field("target")} />
    </FormDialog>
  );
}
