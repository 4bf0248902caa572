import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { nameIs } from "../../data/names.ts";
import { type Loaded, useFollowed } from "../../data/use-load.ts";
import { useSession } from "../../shell/session.tsx";
import { type Choice, Combo, findPeople, findTeams, useNamed } from "../../ui/combo.tsx";
import { SelectField, TextArea, TextField, useDraft } from "../../ui/field.tsx";
import { ActButton, DeleteButton, Form, saveChanges } from "../../ui/form-dialog.tsx";
import { Power, PowerOff } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Id, Secret, Time } from "../../ui/text.tsx";
import { handoffTabs } from "../handoffs/handoffs.tsx";
import { DelaysField, formatDelays, readDelays } from "./delays.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Devices } from "./devices.tsx";
import { AgentState, FORMATS, HEALTH, MODE_NAMES, MODES } from "./health.tsx";
import { Interests } from "./interests.tsx";
import { Keys } from "./keys.tsx";
import { Reception } from "./reception.tsx";

const partsOf = (agent: Agent, of: Loaded<Agent>): Tab[] => [
  { key: "deliveries", label: "Deliveries", content: <Deliveries agent={agent} reload={of.reload} /> },
  { key: "interests", label: "Interests", needs: "interests.list", content: <Interests agent={agent} /> },
  { key: "why", label: "Why", content: <Reception agent={agent} /> },
  { key: "keys", label: "API keys", needs: "keys.list", content: <Keys agent={agent} /> },
  { key: "devices", label: "Devices", needs: "sessions.list", content: <Devices agent={agent} /> },
  ...handoffTabs(agent),
  {
    key: "settings",
    label: "Settings",
    content: <AgentSettings agent={agent} onSaved={() => void of.reload()} />,
  },
];

export function AgentPage() {
  const { id = "" } = useParams();
  const { may } = useSession();
  const cache = useQueryClient();
  const agent = useFollowed(
    HEALTH,
    async (signal) => {
      const read = await api.agents.get({ agent_id: id, include: "delivery" }, { signal });
      nameIs(cache, read.id, read);
      return read;
    },
    [id],
  );
  return (
    <DetailPage
      of={agent}
      kind="Agent"
      above={{ "/agents": "Agents" }}
      titleOf={({ name }) => name}
      stateOf={(data) => <AgentState agent={data} />}
      leadOf={({ description }) => description}
      actionsOf={(data) => may("agents.setStatus") && <Activation agent={data} of={agent} />}
    >
      {(data) => <Tabs label="Agent" tabs={partsOf(data, agent)} />}
    </DetailPage>
  );
}

function Activation({ agent, of }: { agent: Agent; of: Loaded<Agent> }) {
  const { may } = useSession();
  const isActive = agent.status === "active";
  return (
    <>
      <ActButton
        label={isActive ? "Deactivate" : "Activate"}
        icon={isActive ? PowerOff : Power}
        title={isActive ? `Deactivate ${agent.name}?` : undefined}
        text="Its tokens stop working within 5 seconds, and new events no longer match it. Pending deliveries are kept. You can activate it again."
        action="Deactivate"
        act={() => api.agents.setStatus({ agent_id: agent.id, status: isActive ? "inactive" : "active" })}
        done={isActive ? `${agent.name} is inactive.` : `${agent.name} is active.`}
        after={of.reload}
      />
      {/* Once nothing works with the agent any more. */}
      {!isActive && may("agents.delete") && (
        <DeleteButton
          name={agent.name}
          text="Its keys end, and undelivered events are dropped. Its private memories, state, handoffs, deliveries, interests, channels and schedules are erased. Shared memories, outputs, documents, events and runs stay. This cannot be undone."
          action="Delete agent"
          act={() => api.agents.delete({ agent_id: agent.id })}
          to="/agents"
        />
      )}
    </>
  );
}

const orNull = (text: string) => (text === "" ? null : Number(text));

interface Props {
  agent: Agent;
  onSaved(agent: Agent): void;
}

/** An agent's delivery settings, name and owner. */
function AgentSettings({ agent, onSaved }: Props) {
  const { may } = useSession();
  return (
    <div className="stack">
      {may("agents.update") && <Delivery agent={agent} onSaved={onSaved} />}
      {may("agents.update") && <Belonging agent={agent} onSaved={onSaved} />}
      <Card title="Identity">
        <Facts
          of={{
            "Agent ID": <Id>{agent.id}</Id>,
            "Delivery mode": MODE_NAMES[agent.delivery_mode],
            Created: <Time at={agent.created_at} />,
            Updated: <Time at={agent.updated_at} />,
          }}
        />
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
  delays: formatDelays(agent.retry_delays_seconds),
  inFlight: String(agent.max_in_flight ?? ""),
  perMinute: String(agent.max_per_minute ?? ""),
});

const agentOf = (draft: ReturnType<typeof draftOf>): Partial<Agent> => ({
  name: draft.name,
  description: draft.description || null,
  delivery_mode: draft.mode,
  delivery_endpoint: draft.endpoint || null,
  push_format: draft.format,
  visibility_timeout_seconds: orNull(draft.lease),
  retry_budget: orNull(draft.budget),
  retry_delays_seconds: readDelays(draft.delays),
  max_in_flight: orNull(draft.inFlight),
  max_per_minute: orNull(draft.perMinute),
});

function Delivery({ agent, onSaved }: Props) {
  const [before, setBefore] = useState(agent);
  const cache = useQueryClient();
  const [draft, field, change] = useDraft(() => draftOf(agent));
  const save = useFormTask(async () => {
    const changed = await saveAgent(before, agentOf(draft));
    if (!changed) return;
    // Includes others' concurrent changes.
    setBefore(changed);
    change(draftOf(changed));
    nameIs(cache, changed.id, changed);
    toast({ title: "Saved." });
    onSaved(changed);
  });
  return (
    <Card title="Delivery">
      <Form task={save} submit="Save">
        <div className="grid-2">
          <TextField label="Name" required {...field("name")} />
          <SelectField label="Delivery mode" options={MODES} {...field("mode")} />
        </div>
        <TextArea label="Description" rows={2} {...field("description")} />
        {(draft.mode === "push" || draft.endpoint) && (
          <TextField
            label="Endpoint"
            type="url"
            {...field("endpoint")}
            hint={
              agent.push_stopped
                ? "The endpoint answered 410 Gone, so pushing stopped. Save an endpoint to resume."
                : "Loopback and private addresses are refused."
            }
          />
        )}
        {draft.mode === "push" && <SelectField label="Push format" options={FORMATS} {...field("format")} />}
        <div className="grid-2">
          <TextField
            {...OWN}
            label="Lease in seconds"
            max={43_200}
            {...field("lease")}
            hint="Time to acknowledge a delivery."
          />
          <TextField
            {...OWN}
            label="Maximum delivery attempts"
            max={100}
            {...field("budget")}
            hint="After the last one, the delivery is dead-lettered."
          />
          <DelaysField {...field("delays")} placeholder="Default" />
          <TextField
            {...OWN}
            label="Deliveries at once"
            max={1000}
            placeholder="No limit"
            {...field("inFlight")}
            hint="Others wait until one is settled."
          />
          <TextField
            {...OWN}
            label="Deliveries per minute"
            max={100_000}
            placeholder="No limit"
            {...field("perMinute")}
            hint="Counts each attempt. Others wait."
          />
        </div>
      </Form>
    </Card>
  );
}

/** A number from 1 that overrides the default for this agent. */
const OWN = { type: "number", min: 1, placeholder: "Default" };

/** The agent's team, which reads its memories, and its owner, who approves its devices. */
function Belonging({ agent, onSaved }: Props) {
  const [before, setBefore] = useState(agent);
  const [{ team, owner }, field, change] = useDraft(() => belongingOf(agent));
  const save = useFormTask(async () => {
    const team_id = team?.id ?? null;
    const owner_user_id = owner?.id ?? null;
    const changed = await saveAgent(before, { team_id, owner_user_id });
    if (!changed) return;
    setBefore(changed);
    change(belongingOf(changed));
    onSaved(changed);
    toast({ title: "Saved. Applies to new reads and approvals." });
  });
  return (
    <Card title="Team and owner">
      <Form task={save} submit="Save">
        <div className="grid-2">
          <Combo
            label="Team"
            {...field("team")}
            value={useNamed(team)}
            find={findTeams}
            none="No team"
            hint="Agents of a team can read each other's memories with scope team."
          />
          <Combo
            label="Owner"
            {...field("owner")}
            value={useNamed(owner)}
            find={findPeople}
            none="No owner"
            hint="Reads the agent's memories. The agent can work on the owner's steps in runs."
          />
        </div>
      </Form>
    </Card>
  );
}

const belongingOf = ({ team_id, owner_user_id }: Agent) => ({
  team: choiceOf(team_id),
  owner: choiceOf(owner_user_id),
});

const choiceOf = (id: string | null): Choice | null => (id === null ? null : { id, label: "" });

function Signing({ agent }: { agent: Agent }) {
  const [secret, setSecret] = useState<string>();
  return (
    <Card title="Signing secret">
      {secret ? (
        <Secret label="Signing secret" value={secret} note="Shown only once. Copy it now." />
      ) : (
        <div className="row">
          <p className="muted grow">
            Pushes to {agent.name} are signed (Standard Webhooks), so that it can verify the sender.
          </p>
          <ActButton
            label="Rotate secret"
            title="Rotate the signing secret?"
            text="Pushes are signed with the new secret at once, and with the old one for another 24 hours. This cannot be undone."
            action="Rotate secret"
            danger={false}
            act={async () =>
              setSecret((await api.agents.rotateSigningSecret({ agent_id: agent.id })).signing_secret)
            }
          />
        </div>
      )}
    </Card>
  );
}
