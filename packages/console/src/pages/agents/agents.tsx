import { useState } from "react";
import { useNavigate } from "react-router";
import type { Agent, AgentsCreateResult, DeliveryHealth } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { duration, filled, number, percent } from "../../data/format.ts";
import { useList, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { messageOf } from "../../ui/failure.tsx";
import { SegmentsFilter } from "../../ui/filters.tsx";
import { area, check, select, text, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Bot, CircleCheck, Plus } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, Titled, wideEndColumn } from "../../ui/table.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Time } from "../../ui/text.tsx";
import { AgentStateReason, HEALTH, MODE_NAMES, MODES } from "./health.tsx";
import { NewSecrets, SCOPES } from "./keys.tsx";
import { snippetsFor } from "./snippets.ts";
import "./agents.css";

type Shown = "active" | "attention" | "inactive" | "all";

const pendingOf = ({ pending, oldest_age_seconds: age }: DeliveryHealth) =>
  age === null ? number(pending) : `${number(pending)} · ${duration(age)}`;

const COLUMNS: Column<Agent>[] = [
  column("Name", (agent) => (
    <Titled to={`/agents/${agent.id}`} title={agent.name}>
      {agent.description ?? MODE_NAMES[agent.delivery_mode]}
    </Titled>
  )),
  column("Status", (agent) => <AgentStateReason agent={agent} />),
  endColumn("Pending · oldest", ({ delivery }) => delivery && pendingOf(delivery)),
  endColumn(
    "Dead letters",
    ({ delivery }) =>
      delivery && <span className={delivery.dead ? "bad-text" : "faint"}>{number(delivery.dead)}</span>,
  ),
  wideEndColumn("Success 24 h", ({ delivery }) => percent(delivery?.success_rate ?? null)),
  wideEndColumn("Last seen", ({ delivery }) => <Time at={delivery?.last_seen_at} none="Never" />),
];

const LIST = { title: "Agents", icon: Bot, columns: COLUMNS };

/** All agents for those who may list them, else one's own. */
export function Agents() {
  const { may } = useSession();
  return may("agents.list") ? <AllAgents /> : <OwnAgents />;
}

function OwnAgents() {
  return (
    <ListPage
      {...LIST}
      lead="Agents that you own. Admins see all agents."
      actions={<ButtonLink label="Enter a device code" to="/connect" />}
      pages={useList(api.agents.listOwn, { include: "delivery" }, "own agents", HEALTH)}
      none="An admin can make you the owner of an agent in the agent's settings. You can then read its memories, and it can work on your steps in runs."
    />
  );
}

/** The filters of the list. Those that need attention come first in any case. */
const FILTERS: Record<Shown, object> = {
  active: { status: "active" },
  attention: { needs_attention: true },
  inactive: { status: "inactive" },
  all: {},
};

function AllAgents() {
  const { may } = useSession();
  const [search] = useAddress();
  const attention = useRead(api.agents.list, { needs_attention: true, limit: 1 }, HEALTH).data?.total;
  const asked = search.get("status") ?? "active";
  const shown = asked in FILTERS ? (asked as Shown) : "active";
  const q = search.get("q") ?? "";
  const filter = { ...FILTERS[shown], ...(q && { search: q }) };
  const pages = useList(
    api.agents.list,
    { ...filter, include: "delivery", sort: "attention" },
    "agents",
    HEALTH,
  );
  return (
    <ListPage
      {...LIST}
      lead="Programs that receive events, use memories and work on runs."
      actions={<ButtonLink label="Enter a device code" to="/connect" />}
      create={may("agents.create") && "Create agent"}
      dialog={(onClose) => <CreateAgent onClose={onClose} />}
      searched
      filters={
        <SegmentsFilter
          name="status"
          label="Status"
          options={[
            { value: "active", label: "Active" },
            { value: "attention", label: attention ? `Needs attention (${attention})` : "Needs attention" },
            { value: "inactive", label: "Inactive" },
            { value: "all", label: "All" },
          ]}
        />
      }
      pages={pages}
      empty={<NoAgents q={q} shown={shown} />}
    />
  );
}

function NoAgents({ q, shown }: { q: string; shown: Shown }) {
  const { may } = useSession();
  const [, change] = useAddress();
  const make = may("agents.create") && (
    <Button label="Create agent" icon={Plus} onClick={() => change({ create: "1" })} />
  );
  const all = <Button label="Show all agents" onClick={() => change({ q: null, status: "all" })} />;
  if (shown === "attention" && !q) {
    return (
      <Empty icon={CircleCheck} title="No agent needs attention" action={all}>
        Agents appear here that cannot be reached, acknowledge nothing, fall behind or have new dead letters.
      </Empty>
    );
  }
  return (
    <Empty
      icon={Bot}
      title={q ? `No agents match “${q}”` : shown === "inactive" ? "No inactive agents" : "No agents yet"}
      action={q ? all : make}
    >
      An agent is a program that receives events, uses memories and works on runs.
    </Empty>
  );
}

/** The scopes of a first key: all that an agent usually needs. */
const DEFAULT_SCOPES = SCOPES.map(({ scope }) => scope).filter((scope) => scope !== "admin");

const NEW_AGENT = {
  name: text("Name", { required: true, autoFocus: true, placeholder: "billing-bot" }),
  description: area("Description", { rows: 2 }),
  delivery_mode: select("Delivery mode", MODES),
  delivery_endpoint: text("Endpoint", {
    type: "url",
    required: true,
    placeholder: "https://agent.example.com/events",
    hint: "Events are posted to this URL, signed.",
  }),
  wantsKey: check("Create an API key", "All scopes except admin. Shown only once."),
};

/** Creates an agent and optionally its first key, which is shown once. */
function CreateAgent({ onClose }: SavingProps) {
  const navigate = useNavigate();
  const form = useForm(NEW_AGENT, { wantsKey: true });
  const isPush = form.drafts.delivery_mode === "push";
  const [made, setMade] = useState<Created>();
  const create = useFormTask(async () => {
    const { wantsKey, delivery_endpoint, ...others } = form.values();
    const agent = await api.agents.create(
      filled({ ...others, delivery_endpoint: isPush && delivery_endpoint }),
    );
    setMade({ agent, ...(wantsKey && (await firstKey(agent.id))) });
  });
  const open = (id: string) => navigate(`/agents/${id}?tab=interests`, { replace: true });
  if (made) return <Secrets {...made} onDone={() => open(made.agent.id)} />;
  return (
    <FormDialog title="New agent" submit="Create agent" onClose={onClose} task={create}>
      {form.rows("name", "description", "delivery_mode")}
      {isPush && form.show("delivery_endpoint")}
      {form.show("wantsKey")}
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
