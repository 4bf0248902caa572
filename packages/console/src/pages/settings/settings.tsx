import { useState } from "react";
import type { Project, Team, User, UsersUpdateParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { Button, DialogButton, IconButton } from "../../ui/button.tsx";
import { type Option, optionsOf } from "../../ui/field.tsx";
import { day, select, text, useForm } from "../../ui/form.tsx";
import { type Act, ActIcon, FormDialog, type SavingProps, useAct } from "../../ui/form-dialog.tsx";
import { FolderKanban, MoreHorizontal, Trash2, UserPlus, Users } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { useSaving } from "../../ui/task.tsx";
import { Badge, Id, Secret, Time } from "../../ui/text.tsx";
import { Audit } from "../audit/audit.tsx";
import { Account } from "./account.tsx";
import { Limits } from "./limits.tsx";
import "./settings.css";
import { useAddress } from "../../data/use-address.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu } from "../../ui/menu.tsx";
import { ListSearch } from "../../ui/search.tsx";

const PARTS: Tab[] = [
  { key: "people", label: "People", needs: "users.list", content: <People /> },
  { key: "teams", label: "Teams", needs: "teams.list", content: <Teams /> },
  { key: "projects", label: "Projects", content: <Projects /> },
  { key: "limits", label: "Limits", content: <Limits /> },
  { key: "audit", label: "Audit log", needs: "audit.list", content: <Audit /> },
  { key: "account", label: "Your account", content: <Account /> },
];

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

const DELETE_COLUMN: Column<Team> = endColumn("", ({ id, name }) => (
  <ActIcon
    icon={Trash2}
    label={`Delete team ${name}`}
    title={`Delete team ${name}?`}
    text="Its agents leave it and no longer read what others shared with it. Authors and admins keep what they shared with it. This cannot be undone."
    action="Delete team"
    act={() => api.teams.delete({ team_id: id })}
    done={`${name} deleted.`}
  />
));

/** Agents of a team read each other's memories of scope `team`. */
function Teams() {
  const pages = useList(api.teams.list, {}, "teams", "team");
  const { may } = useSession();
  return (
    <EditableList
      pages={pages}
      label="Teams"
      columns={may("teams.delete") ? [...TEAM_COLUMNS, DELETE_COLUMN] : TEAM_COLUMNS}
      add="Create team"
      empty={{
        icon: Users,
        title: "No teams yet",
        text: "Agents of a team share memories and documents that others cannot see. Set an agent’s team in its settings.",
      }}
      dialog={(_, onClose) => <AddDialog onClose={onClose} />}
    />
  );
}

const TEAM = { name: text("Name", { required: true, maxLength: 200 }), description: text("Description") };

function AddDialog({ onClose }: SavingProps) {
  const form = useForm(TEAM);
  const add = useSaving(onClose, async () => void (await api.teams.create(filled(form.values()))));
  return <FormDialog title="New team" submit="Create team" onClose={onClose} task={add} form={form} />;
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
      dialog={(project, onClose) => <ProjectDialog project={project} onClose={onClose} />}
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

/** The API only offers a list. */
async function find(id: string): Promise<Project> {
  for await (const each of api.projects.list.all({ limit: 200 })) if (each.id === id) return each;
  throw new Error("Project not found. It does not exist, or was deleted.");
}

const PROJECT = {
  key: text("Key", {
    required: true,
    pattern: "[A-Za-z0-9][A-Za-z0-9._\\-]{0,99}",
    placeholder: "apollo",
    hint: "Letters, digits, . _ and -. Cannot be changed later.",
  }),
  name: text("Name", { maxLength: 200 }),
  status: select("Status", optionsOf(STATUSES)),
  target_date: day("Target date"),
};

function ProjectDialog({ project, onClose }: SavingProps & { project: Project | undefined }) {
  const form = useForm(PROJECT, project);
  const save = useSaving(onClose, async () => {
    const { key, name, ...others } = form.values();
    const parts = { ...others, ...(name && { name }) };
    if (!project) {
      await api.projects.create({ key, ...parts });
      return `${key} created.`;
    }
    const projects = { get: () => find(project.id), update: api.projects.update };
    return (await form.save(projects, { key }, "/settings?tab=projects", parts)) ? "Saved." : false;
  });
  return (
    <FormDialog
      title={project ? project.name : "New project"}
      submit={project ? "Save" : "Create project"}
      onClose={onClose}
      task={save}
    >
      {!project && form.show("key")}
      {form.show("name", { hint: project ? undefined : "Default: the key." })}
      {form.rows("status", "target_date")}
    </FormDialog>
  );
}

const ROLES: Option<User["role"]>[] = [
  { value: "member", label: "Member: everything except administration" },
  { value: "admin", label: "Admin: also agents, keys, people and decisions reserved for people" },
];

const WAYS = { password: "password", totp: "second factor", oidc: "identity provider" };

interface Password {
  email: string;
  password: string;
}

function People() {
  const [shown, setShown] = useState<Password>();
  const [search] = useAddress();
  const q = search.get("q") ?? "";
  const pages = useList(api.users.list, q ? { search: q } : {}, "people", "user");
  const columns: Column<User>[] = [
    column("Person", ({ display_name, email }) => (
      <div className="person">
        <strong>{display_name}</strong>
        <span className="muted small">{email}</span>
      </div>
    )),
    wideColumn("Signs in by", ({ sign_in }) => (
      <span className="small">{capitalised(sign_in.map((way) => WAYS[way]).join(", "))}</span>
    )),
    column("Role", ({ role }) => (
      <Badge label={capitalised(role)} tone={role === "admin" ? "accent" : "neutral"} />
    )),
    column("Status", ({ status }) => (
      <Badge label={capitalised(status)} tone={status === "active" ? "good" : "bad"} />
    )),
    wideEndColumn("Created", ({ created_at }) => <Time at={created_at} />),
    endColumn("", (user) => <Actions user={user} onPassword={setShown} />),
  ];
  return (
    <div className="stack">
      <div className="list-bar">
        <ListSearch label="Search people" />
        <DialogButton
          label="Invite person"
          kind="primary"
          icon={UserPlus}
          dialog={(onClose) => <InviteDialog onClose={onClose} onPassword={setShown} />}
        />
      </div>
      <List
        pages={pages}
        label="People"
        columns={columns}
        empty={<Empty icon={UserPlus} title={`No people match “${q}”`} />}
      />
      {shown && (
        <Dialog title={`${shown.email} can sign in`} onClose={() => setShown(undefined)} done="Done">
          <Secret
            label="Password"
            value={shown.password}
            note="Shown only once. Give it to the person, who can change it under Settings, Your account."
          />
        </Dialog>
      )}
    </div>
  );
}

const INVITED = {
  email: text("E-mail", { type: "email", required: true }),
  display_name: text("Name"),
  role: select("Role", ROLES),
};

function InviteDialog({ onClose, onPassword }: SavingProps & { onPassword(shown: Password): void }) {
  const form = useForm(INVITED);
  const invite = useSaving(onClose, async () => {
    const { email, password } = await api.users.create(filled(form.values()));
    if (password) onPassword({ email, password });
    return undefined;
  });
  return <FormDialog title="Invite person" submit="Invite" onClose={onClose} task={invite} form={form} />;
}

function Actions({ user, onPassword }: { user: User; onPassword(shown: Password): void }) {
  const { user: self } = useSession();
  const { id: user_id, display_name: name, role, status, email, sign_in } = user;
  const does = useAct((about: Act) => about);
  const update =
    (to: Omit<UsersUpdateParams, "user_id">, done: string, question = {}) =>
    () =>
      does.run({ ...question, act: () => api.users.update({ user_id, ...to }), done });
  const disable = update({ status: "disabled" }, `${name} is disabled.`, {
    title: `Disable ${name}?`,
    text: "They are signed out everywhere within 5 seconds and cannot sign in until you enable them again.",
    action: "Disable",
  });
  const remove = () =>
    does.run({
      title: `Delete ${name}?`,
      text: "Their private memories and schedules are erased, and their agents have no owner until you choose one. Shared memories and the audit log stay. This cannot be undone.",
      action: "Delete person",
      act: () => api.users.delete({ user_id }),
      done: `${name} deleted.`,
    });
  const reset = () =>
    does.run({
      title: `Reset the password of ${name}?`,
      text: "The old password stops working, and they are signed out everywhere within 5 seconds. This cannot be undone.",
      action: "Reset password",
      async act() {
        const { password } = await api.users.update({ user_id, reset_password: true });
        if (password) onPassword({ email, password });
      },
    });
  const resetFactor = update({ reset_totp: true }, `${name} has no second factor now.`, {
    title: `Remove the second factor of ${name}?`,
    text: "Their password alone then signs them in. Do this if they have lost their authenticator and recovery codes.",
    action: "Remove",
  });
  const unlink = update({ unlink_identity: true }, `The identity of ${name} is unlinked.`, {
    title: `Unlink the identity of ${name}?`,
    text: `The next identity with the verified e-mail ${email} that signs in is linked instead.`,
    action: "Unlink",
  });
  if (user_id === self.id) return <span className="muted small">You</span>;
  const other = role === "admin" ? "member" : "admin";
  const said = `${name} is ${other === "admin" ? "an admin" : "a member"} now.`;
  const isActive = status === "active";
  return (
    <Menu
      trigger={<IconButton icon={MoreHorizontal} label={`Actions for ${name}`} />}
      choices={[
        { label: `Change role to ${other}`, onSelect: update({ role: other }, said) },
        { label: "Reset password…", onSelect: reset },
        sign_in.includes("totp") && { label: "Remove second factor…", onSelect: resetFactor },
        sign_in.includes("oidc") && { label: "Unlink identity…", onSelect: unlink },
        isActive && { label: "Disable…", onSelect: disable, danger: true },
        !isActive && {
          label: "Enable",
          onSelect: update({ status: "active" }, `${name} can sign in again.`),
        },
        !isActive && { label: "Delete…", onSelect: remove, danger: true },
      ]}
    />
  );
}
