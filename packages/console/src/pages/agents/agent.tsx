import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useParams } from "react-router";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { nameIs } from "../../data/names.ts";
import { useFollowed } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { findPeople, findTeams } from "../../ui/combo.tsx";
import { area, combo, number, select, text, useForm } from "../../ui/form.tsx";
import { ActButton, DeleteButton, Form } from "../../ui/form-dialog.tsx";
import { Power, PowerOff } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Id, Secret, Time } from "../../ui/text.tsx";
import { handoffTabs } from "../handoffs/handoffs.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Devices } from "./devices.tsx";
import { AgentState, FORMATS, HEALTH, MODE_NAMES, MODES } from "./health.tsx";
import { delays, Interests } from "./interests.tsx";
import { Keys } from "./keys.tsx";
import { Reception } from "./reception.tsx";

interface Props {
  agent: Agent;
}

const partsOf = (agent: Agent): Tab[] => [
  { key: "deliveries", label: "Deliveries", content: <Deliveries agent={agent} /> },
  { key: "interests", label: "Interests", needs: "interests.list", content: <Interests agent={agent} /> },
  { key: "why", label: "Why", content: <Reception agent={agent} /> },
  { key: "keys", label: "API keys", needs: "keys.list", content: <Keys agent={agent} /> },
  { key: "devices", label: "Devices", needs: "sessions.list", content: <Devices agent={agent} /> },
  ...handoffTabs(agent),
  { key: "settings", label: "Settings", content: <AgentSettings agent={agent} /> },
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
      actionsOf={(data) => may("agents.setStatus") && <Activation agent={data} />}
    >
      {(data) => <Tabs label="Agent" tabs={partsOf(data)} />}
    </DetailPage>
  );
}

function Activation({ agent }: Props) {
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

function AgentSettings({ agent }: Props) {
  const { may } = useSession();
  return (
    <div className="stack">
      {may("agents.update") && <Delivery agent={agent} />}
      {may("agents.update") && <Belonging agent={agent} />}
      <FactsCard
        title="Identity"
        of={{
          "Agent ID": <Id>{agent.id}</Id>,
          "Delivery mode": MODE_NAMES[agent.delivery_mode],
          Created: <Time at={agent.created_at} />,
          Updated: <Time at={agent.updated_at} />,
        }}
      />
      {may("agents.rotateSigningSecret") && <Signing agent={agent} />}
    </div>
  );
}

/** A number from 1 that overrides the default for this agent. */
const own = (label: string, attributes: { max: number; hint: string; placeholder?: string }) =>
  number(label, { min: 1, placeholder: "Default", ...attributes });

const DELIVERY = {
  name: text("Name", { required: true }),
  delivery_mode: select("Delivery mode", MODES),
  description: area("Description", { rows: 2 }),
  delivery_endpoint: text("Endpoint", { type: "url" }),
  push_format: select("Push format", FORMATS),
  visibility_timeout_seconds: own("Lease in seconds", {
    max: 43_200,
    hint: "Time to acknowledge a delivery.",
  }),
  retry_budget: own("Maximum delivery attempts", {
    max: 100,
    hint: "After the last one, the delivery is dead-lettered.",
  }),
  retry_delays_seconds: delays("Default"),
  max_in_flight: own("Deliveries at once", {
    max: 1000,
    placeholder: "No limit",
    hint: "Others wait until one is settled.",
  }),
  max_per_minute: own("Deliveries per minute", {
    max: 100_000,
    placeholder: "No limit",
    hint: "Counts each attempt. Others wait.",
  }),
};

/** The agent's team, which reads its memories, and its owner, who approves its devices. */
const BELONGING = {
  team_id: combo("Team", {
    find: findTeams,
    none: "No team",
    hint: "Agents of a team can read each other's memories with scope team.",
  }),
  owner_user_id: combo("Owner", {
    find: findPeople,
    none: "No owner",
    hint: "Reads the agent's memories. The agent can work on the owner's steps in runs.",
  }),
};

interface SettingsForm {
  save(agents: typeof api.agents, which: { agent_id: string }, look: string): Promise<Agent | null>;
}

/** The task that saves a part of an agent's settings. */
const useSaveSettings = (form: SettingsForm, { agent }: Props, said: string) =>
  useFormTask(async () => {
    const which = { agent_id: agent.id };
    if (await form.save(api.agents, which, `/agents/${agent.id}?tab=settings`)) toast({ title: said });
  });

function Delivery(props: Props) {
  const form = useForm(DELIVERY, props.agent);
  const save = useSaveSettings(form, props, "Saved.");
  const { delivery_mode, delivery_endpoint } = form.drafts;
  const isPush = delivery_mode === "push";
  return (
    <Card title="Delivery">
      <Form task={save} submit="Save">
        {form.grid("name", "delivery_mode")}
        {form.show("description")}
        {(isPush || delivery_endpoint) &&
          form.show("delivery_endpoint", {
            hint: props.agent.push_stopped
              ? "The endpoint answered 410 Gone, so pushing stopped. Save an endpoint to resume."
              : "Loopback and private addresses are refused.",
          })}
        {isPush && form.show("push_format")}
        {form.grid(
          "visibility_timeout_seconds",
          "retry_budget",
          "retry_delays_seconds",
          "max_in_flight",
          "max_per_minute",
        )}
      </Form>
    </Card>
  );
}

function Belonging(props: Props) {
  const form = useForm(BELONGING, props.agent);
  const save = useSaveSettings(form, props, "Saved. Applies to new reads and approvals.");
  return (
    <Card title="Team and owner">
      <Form task={save} submit="Save">
        {form.grid("team_id", "owner_user_id")}
      </Form>
    </Card>
  );
}

function Signing({ agent }: Props) {
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
