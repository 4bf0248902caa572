import { Bot, Plus } from "lucide-react";
import { Link, useNavigate } from "react-router";
import type { Agent } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Segments } from "../../ui/field.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { CreateAgent } from "./create.tsx";
import { MODE_NAMES } from "./mode.ts";

type Shown = "active" | "inactive" | "all";

const SHOWN: { value: Shown; label: string }[] = [
  { value: "active", label: "Active" },
  { value: "inactive", label: "Inactive" },
  { value: "all", label: "All" },
];

export function AgentState({ agent }: { agent: Pick<Agent, "status" | "push_stopped"> }) {
  if (agent.status === "inactive") return <Badge>Inactive</Badge>;
  if (agent.push_stopped) return <Badge tone="warn">Push stopped</Badge>;
  return (
    <Badge tone="good" dot>
      Active
    </Badge>
  );
}

const COLUMNS: Column<Agent>[] = [
  { name: "Name", cell: (agent) => <Link to={`/agents/${agent.id}`}>{agent.name}</Link> },
  { name: "Status", cell: (agent) => <AgentState agent={agent} /> },
  {
    name: "Delivery mode",
    cell: (agent) => <span className="muted">{MODE_NAMES[agent.delivery_mode]}</span>,
  },
  {
    name: "Description",
    wideOnly: true,
    cell: (agent) => <span className="muted">{agent.description ?? "–"}</span>,
  },
  { name: "Created", end: true, wideOnly: true, cell: (agent) => <Time at={agent.created_at} /> },
];

const LIST = {
  label: "Agents",
  columns: COLUMNS,
  linkOf: ({ id }: Agent) => `/agents/${id}`,
};

/** All agents for those who may list them, else one's own. */
export function Agents() {
  const { may } = useSession();
  return may("agents.list") ? <AllAgents /> : <OwnAgents />;
}

function OwnAgents() {
  const pages = useList(api.agents.listOwn, {}, "own agents");
  return (
    <Page
      title="Agents"
      lead="Agents that you own. Admins see all agents."
      actions={<ButtonLink to="/connect">Connect a device</ButtonLink>}
    >
      <List
        {...LIST}
        pages={pages}
        empty={
          <Empty icon={Bot} title="No agents yet">
            An admin can make you the owner of an agent in the agent's settings. You can then read its
            memories, and it can work on your steps in runs.
          </Empty>
        }
      />
    </Page>
  );
}

function AllAgents() {
  const { may } = useSession();
  const [search, change] = useAddress();
  const navigate = useNavigate();
  const shown = SHOWN.find(({ value }) => value === search.get("status"))?.value ?? "active";
  const q = search.get("q") ?? "";
  const asked = { ...(shown !== "all" && { status: shown }), ...(q && { search: q }) };
  const pages = useList(api.agents.list, asked, "agents");
  return (
    <Page
      title="Agents"
      lead="Programs that receive events, use memories and work on runs."
      actions={
        <>
          <ButtonLink to="/connect">Connect a device</ButtonLink>
          {may("agents.create") && (
            <Button kind="primary" icon={Plus} onClick={() => change({ create: "1" })}>
              Create agent
            </Button>
          )}
        </>
      }
    >
      <div className="list-bar">
        <ListSearch label="Search agents" />
        <Segments
          label="Status"
          value={shown}
          options={SHOWN}
          onChange={(status) => change({ status: status === "active" ? null : status })}
        />
      </div>
      <List {...LIST} pages={pages} empty={<NoAgents q={q} shown={shown} />} />
      {search.get("create") && (
        <CreateAgent onClose={() => change({ create: null })} onCreated={(id) => navigate(`/agents/${id}`)} />
      )}
    </Page>
  );
}

function NoAgents({ q, shown }: { q: string; shown: Shown }) {
  const { may } = useSession();
  const [, change] = useAddress();
  const make = may("agents.create") && (
    <Button icon={Plus} onClick={() => change({ create: "1" })}>
      Create agent
    </Button>
  );
  const all = <Button onClick={() => change({ q: null, status: "all" })}>Show all agents</Button>;
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
