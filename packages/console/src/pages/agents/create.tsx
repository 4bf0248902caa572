import { useState } from "react";
import type { Agent, AgentsCreateResult, KeysCreateResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { messageOf } from "../../ui/failure.tsx";
import { CheckField, SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { MODES } from "./mode.ts";
import { NewSecrets } from "./new-secrets.tsx";
import { snippetsFor } from "./snippets.ts";

/** The scopes of a first key: all that an agent usually needs. */
const DEFAULT_SCOPES: KeysCreateResult["scopes"] = [
  "send",
  "receive",
  "memory:read",
  "memory:write",
  "channel:read",
  "channel:write",
];

/** Creates an agent and optionally its first key, which is shown once. */
export function CreateAgent({ onClose, onCreated }: { onClose(): void; onCreated(id: string): void }) {
  const [{ name, mode, endpoint, description }, field] = useDraft({
    name: "",
    mode: "poll" as Agent["delivery_mode"],
    endpoint: "",
    description: "",
  });
  const [wantsKey, setWantsKey] = useState(true);
  const [made, setMade] = useState<Created>();
  const create = useFormTask(async () => {
    const agent = await api.agents.create({
      name,
      delivery_mode: mode,
      ...(description && { description }),
      ...(mode === "push" && endpoint && { delivery_endpoint: endpoint }),
    });
    setMade({ agent, ...(wantsKey && (await firstKey(agent.id))) });
  });
  if (made) return <Secrets {...made} onDone={() => onCreated(made.agent.id)} />;
  return (
    <FormDialog title="New agent" submit="Create agent" onClose={onClose} task={create}>
      <TextField label="Name" required autoFocus {...field("name")} placeholder="billing-bot" />
      <TextArea label="Description" rows={2} {...field("description")} />
      <SelectField label="Delivery mode" options={MODES} {...field("mode")} />
      {mode === "push" && (
        <TextField
          label="Endpoint"
          type="url"
          required
          {...field("endpoint")}
          placeholder="https://agent.example.com/events"
          hint="Events are posted to this URL, signed."
        />
      )}
      <CheckField
        label="Create an API key"
        hint="All scopes except admin. Shown only once."
        checked={wantsKey}
        onChange={setWantsKey}
      />
    </FormDialog>
  );
}

interface Created {
  agent: AgentsCreateResult;
  apiKey?: string;
  /** Why the requested key is missing. */
  problem?: string;
}

/** A failure here leaves the agent created, and its signing secret can only be shown now. */
async function firstKey(agent_id: string): Promise<Pick<Created, "apiKey" | "problem">> {
  try {
    return { apiKey: (await api.keys.create({ agent_id, name: "First key", scopes: DEFAULT_SCOPES })).key };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}

function Secrets({ agent, apiKey, problem, onDone }: Created & { onDone(): void }) {
  const isPush = agent.delivery_mode === "push";
  const secrets = [
    ...(apiKey
      ? [{ label: "API key", value: apiKey, note: "The agent authenticates with it.", needed: true }]
      : []),
    {
      label: "Signing secret",
      value: agent.signing_secret,
      note: "Signs pushed events (Standard Webhooks). Can be rotated in the settings.",
      needed: isPush,
    },
  ];
  return (
    <NewSecrets
      title={`${agent.name} created`}
      secrets={secrets}
      snippets={snippetsFor(location.origin, apiKey)}
      onClose={onDone}
    >
      <p className="notice warn">These secrets are shown only once. Copy them to your secret store now.</p>
      {problem && (
        <p className="notice bad">The API key could not be created: {problem} Create one under API keys.</p>
      )}
    </NewSecrets>
  );
}
