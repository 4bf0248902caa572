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

type Shown = "active" | "inactive" | "all";

const SHOWN: { value: Shown; label: string }[] = [
  { value: "active", label: "Active" },
  { value: "inactive", label: "Inactive" },
  { value: "all", label: "All" },
];

export function AgentState({ agent }: { agent: Pick<Agent, "status" | "push_stopped"> }) {
  if (agent.status === "inactive") return <Badge>inactive</Badge>;
  if (agent.push_stopped) return <Badge tone="warn">push stopped</Badge>;
  return (
    <Badge tone="good" dot>
      active
    </Badge>
  );
}

const COLUMNS: Column<Agent>[] = [
  { name: "Name", cell: (agent) => <Link to={`/agents/${agent.id}`}>{agent.name}</Link> },
  { name: "State", cell: (agent) => <AgentState agent={agent} /> },
  { name: "Receives by", cell: (agent) => <span className="muted">{agent.delivery_mode}</span> },
  {
    name: "Description",
    wideOnly: true,
    cell: (agent) => <span className="muted">{agent.description ?? "–"}</span>,
  },
  { name: "Made", end: true, wideOnly: true, cell: (agent) => <Time at={agent.created_at} /> },
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
      lead="Those that are yours. Admins of your organisation see all of them."
      actions={<ButtonLink to="/connect">Connect a device</ButtonLink>}
    >
      <List
        {...LIST}
        pages={pages}
        empty={
          <Empty icon={Bot} title="No agent is yours yet">
            An admin of your organisation makes you the owner of one, on its page under Settings. You read
            what it remembers then, and it takes on your steps in runs.
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
      lead="Who senses and acts: each has keys, interests, and a way its events reach it."
      actions={
        <>
          <ButtonLink to="/connect">Connect a device</ButtonLink>
          {may("agents.create") && (
            <Button kind="primary" icon={Plus} onClick={() => change({ create: "1" })}>
              New agent
            </Button>
          )}
        </>
      }
    >
      <div className="list-bar">
        <ListSearch label="Find an agent" />
        <Segments
          label="Which agents"
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
      Make an agent
    </Button>
  );
  const all = <Button onClick={() => change({ q: null, status: "all" })}>Look among all</Button>;
  return (
    <Empty
      icon={Bot}
      title={q ? `No agent has “${q}” in it` : shown === "inactive" ? "No inactive agents" : "No agents yet"}
      action={q ? all : make}
    >
      An agent is a program that receives events, remembers, and takes part in runs.
    </Empty>
  );
}
