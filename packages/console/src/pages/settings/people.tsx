import { useState } from "react";
import type { User, UsersUpdateParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { DialogButton, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { type Act, FormDialog, useAct } from "../../ui/form-dialog.tsx";
import { MoreHorizontal, UserPlus } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Empty } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, column, endColumn, List, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Badge, Secret, Time } from "../../ui/text.tsx";

const ROLES = [
  { value: "member", label: "Member: everything except administration" },
  { value: "admin", label: "Admin: also agents, keys, people and decisions reserved for people" },
];

const WAYS = { password: "password", totp: "second factor", oidc: "identity provider" };

interface Password {
  email: string;
  password: string;
}

/** The people who may sign in. */
export function People() {
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
    endColumn("", (user) => <Actions user={user} reload={pages.reload} onPassword={setShown} />),
  ];
  return (
    <div className="stack">
      <div className="list-bar">
        <ListSearch label="Search people" />
        <DialogButton
          label="Invite person"
          kind="primary"
          icon={UserPlus}
          dialog={(onClose) => (
            <InviteDialog onClose={onClose} onInvited={pages.reload} onPassword={setShown} />
          )}
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

interface InviteProps {
  onClose(): void;
  onInvited(): Promise<void>;
  onPassword(shown: Password): void;
}

function InviteDialog({ onClose, onInvited, onPassword }: InviteProps) {
  const [{ email, name, role }, field] = useDraft({ email: "", name: "", role: "member" as User["role"] });
  const invite = useFormTask(async () => {
    const made = await api.users.create({
      email: email.trim(),
      role,
      ...(name.trim() && { display_name: name.trim() }),
    });
    onClose();
    if (made.password) onPassword({ email: made.email, password: made.password });
    await onInvited();
  });
  return (
    <FormDialog title="Invite person" submit="Invite" onClose={onClose} task={invite}>
      <TextField label="E-mail" type="email" {...field("email")} required />
      <TextField label="Name" {...field("name")} />
      <SelectField label="Role" {...field("role")} options={ROLES} />
    </FormDialog>
  );
}

interface ActionsProps {
  user: User;
  reload(): Promise<void>;
  onPassword(shown: Password): void;
}

function Actions({ user, reload, onPassword }: ActionsProps) {
  const { user: self } = useSession();
  const { id: user_id, display_name: name, role, status, email, sign_in } = user;
  const does = useAct((about: Act) => about);
  const update = (to: Omit<UsersUpdateParams, "user_id">, done: string, question = {}) =>
    does.run({ ...question, act: () => api.users.update({ user_id, ...to }), done, after: reload });
  const disable = () =>
    update({ status: "disabled" }, `${name} is disabled.`, {
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
      after: reload,
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
  const resetFactor = () =>
    update({ reset_totp: true }, `${name} has no second factor now.`, {
      title: `Remove the second factor of ${name}?`,
      text: "Their password alone then signs them in. Do this if they have lost their authenticator and recovery codes.",
      action: "Remove",
    });
  const unlink = () =>
    update({ unlink_identity: true }, `The identity of ${name} is unlinked.`, {
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
        { label: `Change role to ${other}`, onSelect: () => update({ role: other }, said) },
        { label: "Reset password…", onSelect: reset },
        sign_in.includes("totp") && { label: "Remove second factor…", onSelect: resetFactor },
        sign_in.includes("oidc") && { label: "Unlink identity…", onSelect: unlink },
        isActive && { label: "Disable…", onSelect: disable, danger: true },
        !isActive && {
          label: "Enable",
          onSelect: () => update({ status: "active" }, `${name} can sign in again.`),
        },
        !isActive && { label: "Delete…", onSelect: remove, danger: true },
      ]}
    />
  );
}
