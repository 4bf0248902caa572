import type { ReactNode } from "react";
import { Link, useParams, useSearchParams } from "react-router";
import type { BundleForPeople, ListedBundle, ListedHandoff } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, plural } from "../../data/format.ts";
import { useName } from "../../data/names.ts";
import { useList, useRead } from "../../data/queries.ts";
import { AgentFilter } from "../../ui/filters.tsx";
import { Lock, PackageOpen, Pin, Replace } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { Card, Empty, FactsCard, Page } from "../../ui/page.tsx";
import {
  type Column,
  column,
  endColumn,
  List,
  RowLink,
  Table,
  Titled,
  wideColumn,
  wideEndColumn,
} from "../../ui/table.tsx";
import { type Tab, Tabs } from "../../ui/tabs.tsx";
import { Badge, Id, Json, Time } from "../../ui/text.tsx";
import "./handoffs.css";

interface OfAgent {
  agent: { id: string };
}

/** The handoffs and bundles of an agent, which the person chooses: each look at an agent's is recorded. */
export function HandoffsPage() {
  const id = useSearchParams()[0].get("agent");
  return (
    <Page
      title="Handoffs"
      lead="An agent saves the state of its work as a handoff, so that another session or client can resume it."
    >
      <div className="filters">
        <AgentFilter name="agent" label="Agent" none="Choose an agent" />
      </div>
      {id ? (
        <Tabs key={id} label="Handoffs" tabs={handoffTabs({ id })} />
      ) : (
        <Empty icon={Replace} title="Choose an agent">
          Handoffs are private to an agent and its owner. Choose an agent to see its handoffs, and the
          bundles: the context that it gathered before its tasks.
        </Empty>
      )}
    </Page>
  );
}

/** The handoff of an agent to its successors, and the context that it started with. */
export const handoffTabs = (agent: OfAgent["agent"]): Tab[] => [
  { key: "handoffs", label: "Handoffs", needs: "handoffs.listOfAgent", content: <Handoffs agent={agent} /> },
  { key: "bundles", label: "Bundles", needs: "bundles.listOfAgent", content: <Bundles agent={agent} /> },
];

const handoffColumns = (agent: OfAgent["agent"]): Column<ListedHandoff>[] => [
  column("Handoff", ({ id, name, summary }) => (
    <Titled to={`/agents/${agent.id}/handoffs/${id}`} title={name}>
      {summary || "No summary"}
    </Titled>
  )),
  wideEndColumn("Version", ({ version_num }) => version_num),
  wideColumn("Client", ({ origin_client }) => origin_client ?? "–"),
  endColumn("Resumed", ({ last_resumed_at }) => (last_resumed_at ? <Time at={last_resumed_at} /> : "Never")),
  endColumn("Saved", ({ updated_at }) => <Time at={updated_at} />),
  endColumn("Expires", (handoff) => <Expiry handoff={handoff} />),
];

/** When it expires; a pinned one does not. */
function Expiry({ handoff }: { handoff: Pick<ListedHandoff, "pinned_at" | "expires_at"> }) {
  if (!handoff.pinned_at) return <Time at={handoff.expires_at} />;
  return (
    <Badge
      tone="info"
      label={
        <>
          <Pin aria-hidden size={12} /> Pinned
        </>
      }
    />
  );
}

function Handoffs({ agent }: OfAgent) {
  const pages = useList(api.handoffs.listOfAgent, { agent_id: agent.id }, "handoffs");
  return (
    <Audited lead="Handoffs are saved states of work, which another session or client resumes.">
      <List
        pages={pages}
        label="Handoffs"
        columns={handoffColumns(agent)}
        empty={
          <Empty icon={Replace} title="No handoffs">
            An agent saves the state of its work with <code>POST /v1/handoffs</code>, for another client to
            resume. Handoffs expire after 30 days unless they are pinned.
          </Empty>
        }
      />
    </Audited>
  );
}

export function HandoffPage() {
  const { id: agent_id = "", handoff: id = "" } = useParams();
  const { name: agent } = useName(agent_id);
  return (
    <DetailPage
      of={useRead(api.handoffs.getOfAgent, { agent_id, id })}
      kind="Handoff"
      above={{ "/agents": "Agents", [`/agents/${agent_id}?tab=handoffs`]: agent }}
      titleOf={({ name }) => name}
      stateOf={({ version_num }) => <Badge label={`Version ${version_num}`} />}
      lines={8}
    >
      {(data) => (
        <div className="sides with-facts">
          <Tabs
            label="Handoff"
            tabs={[
              {
                key: "brief",
                label: "Brief",
                content: <Brief title={`Handoff: ${data.name}`}>{data.brief}</Brief>,
              },
              { key: "payload", label: "Payload", content: <Json value={data.payload} label="Payload" /> },
            ]}
          />
          <FactsCard
            of={{
              Saved: <Time at={data.updated_at} />,
              Created: <Time at={data.created_at} />,
              Resumed: data.last_resumed_at ? <Time at={data.last_resumed_at} /> : "Never",
              Expires: <Expiry handoff={data} />,
              Client: data.origin_client,
              Bundle: data.bundle_id && (
                <Link to={`/agents/${data.agent_id}/bundles/${data.bundle_id}`}>Context it started with</Link>
              ),
              Memories: data.citations.length > 0 && (
                <ul className="plain-list">
                  {data.citations.map(({ memory_id, title }) => (
                    <li key={memory_id}>
                      {title ? (
                        <Link to={`/memories/${memory_id}`}>{title}</Link>
                      ) : (
                        "A memory that you cannot read"
                      )}
                    </li>
                  ))}
                </ul>
              ),
              ID: <Id>{data.id}</Id>,
            }}
          />
        </div>
      )}
    </DetailPage>
  );
}

const NO_QUERY = "Latest items, without a query";

const bundleColumns = (agent: OfAgent["agent"]): Column<ListedBundle>[] => [
  column("Query", ({ id, query, item_count }) => (
    <Titled to={`/agents/${agent.id}/bundles/${id}`} title={query ?? NO_QUERY}>
      {plural(item_count, "item")}
    </Titled>
  )),
  column("Sources", ({ degraded }) => (
    <Badge label={degraded ? "Incomplete" : "Complete"} tone={degraded ? "warn" : "good"} />
  )),
  endColumn("Gathered", ({ created_at }) => <Time at={created_at} />),
];

function Bundles({ agent }: OfAgent) {
  const pages = useList(api.bundles.listOfAgent, { agent_id: agent.id }, "bundles");
  return (
    <Audited lead="Bundles are the context that the agent gathered before its tasks: memories, outputs and handoffs.">
      <List
        pages={pages}
        label="Bundles"
        columns={bundleColumns(agent)}
        empty={
          <Empty icon={PackageOpen} title="No bundles">
            Before a task, an agent gathers memories, outputs and handoffs with <code>POST /v1/bundles</code>.
          </Empty>
        }
      />
    </Audited>
  );
}

type Item = BundleForPeople["items"][number];

export function BundlePage() {
  const { id: agent_id = "", bundle: id = "" } = useParams();
  const { name: agent } = useName(agent_id);
  return (
    <DetailPage
      of={useRead(api.bundles.getOfAgent, { agent_id, id })}
      kind="Bundle"
      above={{ "/agents": "Agents", [`/agents/${agent_id}?tab=bundles`]: agent }}
      titleOf={() => "Bundle"}
      leadOf={({ query }) => query ?? NO_QUERY}
      lines={8}
    >
      {(data) => (
        <div className="stack">
          {data.degraded && <p className="notice warn">Incomplete: {data.degraded_reasons.join("; ")}</p>}
          <div className="sides with-facts">
            <Tabs
              label="Bundle"
              tabs={[
                { key: "items", label: "Items", content: <Items bundle={data} /> },
                { key: "brief", label: "Brief", content: <BundleBrief bundle={data} /> },
              ]}
            />
            <FactsCard
              of={{
                Gathered: <Time at={data.created_at} />,
                Items: data.items.length,
                Weights: data.weights_version,
                ID: <Id>{data.id}</Id>,
              }}
            />
          </div>
        </div>
      )}
    </DetailPage>
  );
}

function linkOf({ kind, item_id }: Item, agent_id: string): string {
  if (kind === "memory") return `/memories/${item_id}`;
  return kind === "output" ? `/outputs/${item_id}` : `/agents/${agent_id}/handoffs/${item_id}`;
}

const itemColumns = (agent_id: string): Column<Item>[] => [
  column("Item", (item) => (
    <div className="titled">
      {item.title ? (
        <RowLink to={linkOf(item, agent_id)}>{item.title}</RowLink>
      ) : (
        <span className="faint">Only its owner can read it</span>
      )}
      <span className="muted small">{item.why}</span>
    </div>
  )),
  column("Kind", ({ kind }) => capitalised(kind)),
  wideColumn("Found by", ({ source }) => source),
  endColumn("Score", ({ score }) => score.toFixed(2)),
];

function Items({ bundle }: { bundle: BundleForPeople }) {
  if (bundle.items.length === 0) return <p className="muted">Nothing matched the query.</p>;
  return <Table label="Items" columns={itemColumns(bundle.agent_id)} rows={bundle.items} />;
}

function BundleBrief({ bundle }: { bundle: BundleForPeople }) {
  if (bundle.rendered_brief !== null) return <Brief>{bundle.rendered_brief}</Brief>;
  return (
    <Empty icon={Lock} title="The brief is private">
      It quotes memories or outputs that only the agent and its owner can read.
    </Empty>
  );
}

/** A list of an agent's private work, with the note that reading it is recorded. It does not follow changes: each look counts. */
function Audited({ lead, children }: { lead: string; children: ReactNode }) {
  return (
    <div className="stack">
      <p className="muted small">
        {lead} Only admins and the owner can read these. Each view is recorded in the audit log.
      </p>
      {children}
    </div>
  );
}

/** A brief for agents. Quoted data is prose: it wraps. */
function Brief({ title, children }: { title?: string; children: string }) {
  return (
    <Card>
      <div className="brief">
        <Markdown title={title}>{children}</Markdown>
      </div>
    </Card>
  );
}
