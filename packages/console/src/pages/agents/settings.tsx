import { useState } from "react";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { findPeople, findTeams } from "../../data/find.ts";
import { nameIs } from "../../data/names.ts";
import { useNames } from "../../data/use-names.ts";
import { useFormTask, useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { TextArea, TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Id, Secret, Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { FormatField, ModeField } from "./mode.tsx";

const orNull = (text: string) => (text === "" ? null : Number(text));

interface Props {
  agent: Agent;
  onSaved(agent: Agent): void;
}

/** An agent's delivery settings, name and owner. */
export function AgentSettings({ agent, onSaved }: Props) {
  const { may } = useSession();
  return (
    <div className="stack">
      {may("agents.update") && <Delivery agent={agent} onSaved={onSaved} />}
      {may("agents.update") && <Belonging agent={agent} onSaved={onSaved} />}
      <Card title="Identity">
        <Identity agent={agent} />
      </Card>
      {may("agents.rotateSigningSecret") && <Signing agent={agent} />}
    </div>
  );
}

/** Returns the saved agent; null if others changed the same fields and the person keeps theirs. */
const saveAgent = (before: Agent, wanted: Partial<Agent>) =>
  saveChanges(api.agents, { agent_id: before.id }, before, wanted, `/agents/${before.id}?tab=settings`);

const draftOf = (agent: Agent) => ({
  name: agent.name,
  description: agent.description ?? "",
  mode: agent.delivery_mode,
  endpoint: agent.delivery_endpoint ?? "",
  format: agent.push_format,
  lease: String(agent.visibility_timeout_seconds ?? ""),
  budget: String(agent.retry_budget ?? ""),
});

function Delivery({ agent, onSaved }: Props) {
  const [before, setBefore] = useState(agent);
  const [draft, setDraft] = useState(() => draftOf(agent));
  const { name, description, mode, endpoint, format, lease, budget } = draft;
  const set = (field: keyof typeof draft) => (value: string) => setDraft({ ...draft, [field]: value });
  const save = useFormTask(async () => {
    const changed = await saveAgent(before, {
      name,
      description: description || null,
      delivery_mode: mode,
      delivery_endpoint: endpoint || null,
      push_format: format,
      visibility_timeout_seconds: orNull(lease),
      retry_budget: orNull(budget),
    });
    if (!changed) return;
    // Includes others' concurrent changes.
    setBefore(changed);
    setDraft(draftOf(changed));
    nameIs(changed.id, changed.name);
    toast({ title: "Saved." });
    onSaved(changed);
  });
  return (
    <Card title="Delivery">
      <Form task={save} submit="Save">
        <div className="grid-2">
          <TextField label="Name" required value={name} onChange={set("name")} />
          <ModeField value={mode} onChange={set("mode")} />
        </div>
        <TextArea label="Description" rows={2} value={description} onChange={set("description")} />
        {(mode === "push" || endpoint) && (
          <TextField
            label="Endpoint"
            type="url"
            value={endpoint}
            onChange={set("endpoint")}
            hint={
              agent.push_stopped
                ? "It answered 410 Gone, so pushing stopped; saving an endpoint starts it again."
                : "Loopback and private addresses are refused."
            }
          />
        )}
        {mode === "push" && <FormatField value={format} onChange={set("format")} />}
        <div className="grid-2">
          <OwnNumber
            label="Lease in seconds"
            max={43_200}
            value={lease}
            onChange={set("lease")}
            hint="How long it has to acknowledge a delivery."
          />
          <OwnNumber
            label="Most delivery attempts"
            max={100}
            value={budget}
            onChange={set("budget")}
            hint="Then the delivery becomes a dead letter."
          />
        </div>
      </Form>
    </Card>
  );
}

interface OwnNumberProps {
  label: string;
  max: number;
  value: string;
  onChange(value: string): void;
  hint: string;
}

/** A number from 1 that overrides the default for this agent. */
function OwnNumber(props: OwnNumberProps) {
  return <TextField {...props} type="number" min={1} placeholder="the installation's default" />;
}

/** The agent's team, which reads its memories, and its owner, who approves its devices. */
function Belonging({ agent, onSaved }: Props) {
  const nameOf = useNames();
  const [before, setBefore] = useState(agent);
  const [team, setTeam] = useState(choiceOf(agent.team_id));
  const [owner, setOwner] = useState(choiceOf(agent.owner_user_id));
  // Names load later than ids.
  const named = (choice: Choice | null) => choice && { ...choice, label: choice.label || nameOf(choice.id) };
  const save = useFormTask(async () => {
    const team_id = team?.id ?? null;
    const owner_user_id = owner?.id ?? null;
    const changed = await saveAgent(before, { team_id, owner_user_id });
    if (!changed) return;
    setBefore(changed);
    setTeam(choiceOf(changed.team_id));
    setOwner(choiceOf(changed.owner_user_id));
    onSaved(changed);
    toast({ title: "Saved. It holds for what is read and approved from now on." });
  });
  return (
    <Card title="Team and owner">
      <Form task={save} submit="Save">
        <div className="grid-2">
          <Combo
            label="Team"
            value={named(team)}
            onChange={setTeam}
            find={findTeams}
            none="No team"
            hint="Agents of a team read each other's memories of the scope team."
          />
          <Combo
            label="Owner"
            value={named(owner)}
            onChange={setOwner}
            find={findPeople}
            none="Nobody"
            hint="A person who reads what it remembers and whose steps in runs it takes on."
          />
        </div>
      </Form>
    </Card>
  );
}

const choiceOf = (id: string | null): Choice | null => (id === null ? null : { id, label: "" });

function Identity({ agent }: { agent: Agent }) {
  return (
    <Facts
      of={{
        "Agent id": <Id>{agent.id}</Id>,
        "Receives by": agent.delivery_mode,
        Since: <Time at={agent.created_at} />,
        Changed: <Time at={agent.updated_at} />,
      }}
    />
  );
}

function Signing({ agent }: { agent: Agent }) {
  const [secret, setSecret] = useState<string>();
  const rotate = useTask(async () => {
    const sure = await confirm({
      title: "Make a new signing secret?",
      text: "Pushes are signed with the new one from now on, and with the old one too for 24 hours.",
      action: "Make a new secret",
      danger: false,
    });
    if (sure) setSecret((await api.agents.rotateSigningSecret({ agent_id: agent.id })).signing_secret);
  });
  return (
    <Card title="Signing secret">
      {secret ? (
        <Secret label="Signing secret" value={secret} note="It is shown only now." />
      ) : (
        <div className="row">
          <p className="muted grow">
            Pushes to {agent.name} are signed as Standard Webhooks say, so that it can tell them from others'.
          </p>
          <Button busy={rotate.busy} onClick={() => rotate.run()}>
            New secret
          </Button>
        </div>
      )}
    </Card>
  );
}
