import { useState } from "react";
import type { Agent, KeysListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/use-list.ts";
import { useFormTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { KeyRound } from "../../ui/icons.tsx";
import { type Column, column, endColumn, wideColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { NewSecrets } from "./new-secrets.tsx";
import { SCOPES, type Scope, ScopeChoice } from "./scopes.tsx";
import { snippetsFor } from "./snippets.ts";
import "./agents.css";

type Key = KeysListResult["keys"][number];

/** An agent's API keys. The key itself is shown once, when created. */
export function Keys({ agent }: { agent: Agent }) {
  const list = useList(api.keys.list, { agent_id: agent.id }, undefined, ["key", "device"]);
  const revoke = useConfirmed((key: Key) => ({
    title: `Revoke ${key.name ?? `${key.prefix}…`}?`,
    text: `Tokens issued with this key stop working within 5 seconds. Programs that use it need a new key. This cannot be undone.`,
    action: "Revoke key",
    act: () => api.keys.revoke({ agent_id: agent.id, key_id: key.id }),
    done: "Key revoked.",
    after: list.reload,
  }));
  return (
    <EditableList
      pages={list}
      label="API keys"
      columns={[
        ...COLUMNS,
        endColumn("", (key: Key) => (
          <Button label="Revoke" small kind="quiet" onClick={() => revoke.run(key)} />
        )),
      ]}
      add="Create key"
      kind="plain"
      empty={{
        icon: KeyRound,
        title: "No API keys yet",
        text: `Create a key for ${agent.name} to authenticate with. Connected devices get their own.`,
      }}
      dialog={(_, onClose) => (
        <NewKey
          agent={agent}
          onClose={() => {
            onClose();
            list.reload();
          }}
        />
      )}
    />
  );
}

const timeOrNever = (at: string | null) => (at ? <Time at={at} /> : <span className="faint">Never</span>);

const COLUMNS: Column<Key>[] = [
  column("Name", ({ name, prefix, state }) => (
    <div className="health">
      {name ? <strong>{name}</strong> : <span className="faint">No name</span>}
      <code className="small muted">{prefix}…</code>
      {state === "ended" && <span className="small muted">Its approval has ended</span>}
    </div>
  )),
  column("Scopes", ({ scopes }) => <span className="muted">{scopes.join(", ")}</span>),
  wideColumn("Last used", ({ last_used_at }) => timeOrNever(last_used_at)),
  wideColumn("Expires", ({ expires_at }) => timeOrNever(expires_at)),
];

const LIVES = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];
const DAY_MS = 86_400_000;

function NewKey({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>(["send", "receive"]);
  const [days, setDays] = useState("");
  const [key, setKey] = useState<string>();
  const make = useFormTask(async () => {
    const expires_at = days ? new Date(Date.now() + Number(days) * DAY_MS).toISOString() : null;
    setKey((await api.keys.create({ agent_id: agent.id, name, scopes, expires_at })).key);
  });
  if (key) {
    return (
      <NewSecrets
        title="New API key"
        secrets={[{ label: "API key", value: key, note: "Shown only once. Copy it now.", needed: true }]}
        snippets={snippetsFor(location.origin, key)}
        onClose={onClose}
      />
    );
  }
  return (
    <FormDialog
      title={`New API key of ${agent.name}`}
      submit="Create key"
      onClose={onClose}
      task={make}
      disabled={scopes.length === 0}
    >
      <TextField
        label="Name"
        required
        autoFocus
        maxLength={200}
        value={name}
        onChange={setName}
        placeholder="billing-bot in production"
        hint="What the key is for, so that you recognise it later."
      />
      <ScopeChoice of={SCOPES.map(({ scope }) => scope)} value={scopes} onChange={setScopes} />
      <SelectField label="Expires" options={LIVES} value={days} onChange={setDays} />
    </FormDialog>
  );
}
