import { useState } from "react";
import type { Project } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useSaving } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { FolderKanban } from "../../ui/icons.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { type Column, column, endColumn, wideEndColumn } from "../../ui/table.tsx";

const TONE = { active: "good", completed: "info", archived: "neutral" } as const;
const STATUSES = ["active", "completed", "archived"] as const;

/** Projects, which group memories, runs and outputs. */
export function Projects() {
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
      <SelectField
        label="Status"
        {...field("status")}
        options={STATUSES.map((value) => ({ value, label: capitalised(value) }))}
      />
      <TextField label="Target date" type="date" {...field("target")} />
    </FormDialog>
  );
}
