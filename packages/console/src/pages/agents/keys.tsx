import { type ComponentProps, type ReactNode, useCallback, useRef, useState } from "react";
import type { Agent, KeysCreateResult, KeysListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/queries.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { CheckField, Segments } from "../../ui/field.tsx";
import { select, text, useForm } from "../../ui/form.tsx";
import { ActButton, confirm, FormDialog, useUnsaved } from "../../ui/form-dialog.tsx";
import { KeyRound } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, wideColumn } from "../../ui/table.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Code, Secret, Time } from "../../ui/text.tsx";
import { type Snippet, snippetsFor } from "./snippets.ts";
import "./agents.css";

type Key = KeysListResult["keys"][number];

/** An agent's API keys. The key itself is shown once, when created. */
export function Keys({ agent }: { agent: Agent }) {
  return (
    <EditableList
      pages={useList(api.keys.list, { agent_id: agent.id }, undefined, ["key", "device"])}
      label="API keys"
      columns={[
        ...COLUMNS,
        endColumn("", (key: Key) => (
          <ActButton
            label="Revoke"
            small
            kind="quiet"
            title={`Revoke ${key.name ?? `${key.prefix}…`}?`}
            text="Tokens issued with this key stop working within 5 seconds. Programs that use it need a new key. This cannot be undone."
            action="Revoke key"
            act={() => api.keys.revoke({ agent_id: agent.id, key_id: key.id })}
            done="Key revoked."
          />
        )),
      ]}
      add="Create key"
      kind="plain"
      empty={{
        icon: KeyRound,
        title: "No API keys yet",
        text: `Create a key for ${agent.name} to authenticate with. Connected devices get their own.`,
      }}
      dialog={(_, onClose) => <NewKey agent={agent} onClose={onClose} />}
    />
  );
}

const COLUMNS: Column<Key>[] = [
  column("Name", ({ name, prefix, state }) => (
    <div className="health">
      {name ? <strong>{name}</strong> : <span className="faint">No name</span>}
      <code className="small muted">{prefix}…</code>
      {state === "ended" && <span className="small muted">Its approval has ended</span>}
    </div>
  )),
  column("Scopes", ({ scopes }) => <span className="muted">{scopes.join(", ")}</span>),
  wideColumn("Last used", ({ last_used_at }) => <Time at={last_used_at} none="Never" />),
  wideColumn("Expires", ({ expires_at }) => <Time at={expires_at} none="Never" />),
];

const LIVES = [
  { value: "", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In a year" },
];
const DAY_MS = 86_400_000;

const NEW_KEY = {
  name: text("Name", {
    required: true,
    autoFocus: true,
    maxLength: 200,
    placeholder: "billing-bot in production",
    hint: "What the key is for, so that you recognise it later.",
  }),
  days: select("Expires", LIVES),
};

function NewKey({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const form = useForm(NEW_KEY);
  const [scopes, setScopes] = useState<Scope[]>(["send", "receive"]);
  const [key, setKey] = useState<string>();
  const make = useFormTask(async () => {
    const { name, days } = form.values();
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
      {form.show("name")}
      <ScopeChoice of={SCOPES.map(({ scope }) => scope)} value={scopes} onChange={setScopes} />
      {form.show("days")}
    </FormDialog>
  );
}

interface NewSecret extends Omit<ComponentProps<typeof Secret>, "onCopied"> {
  /** It cannot be had again, and the agent needs it. */
  needed: boolean;
}

interface NewSecretsProps {
  title: string;
  children?: ReactNode;
  secrets: NewSecret[];
  snippets?: readonly Snippet[];
  onClose(): void;
}

/** A dialog with secrets that are shown once: leaving it in any way asks before one is lost. */
export function NewSecrets({ title, children, secrets, snippets = [], onClose }: NewSecretsProps) {
  const needed = secrets.filter((secret) => secret.needed);
  const kept = useKept(needed.map(({ value }) => value));
  return (
    <Dialog wide title={title} onClose={() => kept.leave(onClose)} done="Done">
      <div className="stack" onCopy={() => kept.copied(getSelection()?.toString() ?? "")}>
        {children}
        {secrets.map(({ label, value, note }) => (
          <Secret key={label} label={label} value={value} note={note} onCopied={kept.copied} />
        ))}
        <Snippets of={snippets} onCopied={kept.copied} />
      </div>
    </Dialog>
  );
}

function Snippets({ of: snippets, onCopied }: { of: readonly Snippet[]; onCopied(text: string): void }) {
  const [shown, setShown] = useState<string | undefined>(snippets[0]?.key);
  const snippet = snippets.find(({ key }) => key === shown);
  if (!snippet) return null;
  const { label, hint, more, text } = snippet;
  return (
    <section className="snippets" aria-label="Connect the agent">
      <Segments
        label="Connect with"
        value={snippet.key}
        options={snippets.map(({ key, label: name }) => ({ value: key, label: name }))}
        onChange={setShown}
      />
      <p className="field-hint">
        {hint}{" "}
        {more && (
          <a href={more.to} target="_blank" rel="noreferrer">
            {more.label}
          </a>
        )}
      </p>
      <Code text={text} label={label} onCopied={onCopied} />
    </section>
  );
}

export type Scope = KeysCreateResult["scopes"][number];

export const SCOPES: { scope: Scope; means: string }[] = [
  { scope: "send", means: "publish events" },
  { scope: "receive", means: "receive deliveries" },
  { scope: "memory:read", means: "search and read memories" },
  { scope: "memory:write", means: "write memories, work on runs" },
  { scope: "channel:read", means: "read channels" },
  { scope: "channel:write", means: "change channels" },
  { scope: "admin", means: "everything" },
];

interface ScopeChoiceProps {
  of: readonly Scope[];
  value: readonly Scope[];
  onChange(scopes: Scope[]): void;
}

export function ScopeChoice({ of, value, onChange }: ScopeChoiceProps) {
  const toggle = (scope: Scope, on: boolean) =>
    onChange(on ? [...value, scope] : value.filter((each) => each !== scope));
  return (
    <fieldset className="checks">
      <legend>Scopes</legend>
      {SCOPES.filter(({ scope }) => of.includes(scope)).map(({ scope, means }) => (
        <CheckField
          key={scope}
          label={scope}
          hint={means}
          checked={value.includes(scope)}
          onChange={(on) => toggle(scope, on)}
        />
      ))}
    </fieldset>
  );
}

const LOST = {
  title: "Close without copying?",
  text: "What you see here is shown only once, and has not been copied yet.",
  action: "Close anyway",
};

/** A dialog is gone at any other address, also of the same page. */
const NOWHERE_ELSE = { question: LOST, stays: () => false };

/** Asks before secrets are lost that nobody has copied, whichever way the person leaves. */
function useKept(secrets: readonly string[]) {
  const missing = useRef(new Set(secrets));
  const isLost = useCallback(() => missing.current.size > 0, []);
  useUnsaved(isLost, NOWHERE_ELSE);
  return {
    /** A text was copied: with it the secrets that it contains. */
    copied(text: string): void {
      for (const secret of missing.current) if (text.includes(secret)) missing.current.delete(secret);
    },
    async leave(onLeave: () => void): Promise<void> {
      if (isLost() && !(await confirm(LOST))) return;
      missing.current.clear();
      onLeave();
    },
  };
}
