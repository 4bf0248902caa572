import type { Agent, ListedHandoff } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../../ui/badge.tsx";
import { Pin, Replace } from "../../ui/icons.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, Titled, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { Audited } from "./audited.tsx";

const columnsOf = (agent: Agent): Column<ListedHandoff>[] => [
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
export function Expiry({ handoff }: { handoff: Pick<ListedHandoff, "pinned_at" | "expires_at"> }) {
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

/** The handoffs of an agent, last saved first. */
export function Handoffs({ agent }: { agent: Agent }) {
  const pages = useList(api.handoffs.listOfAgent, { agent_id: agent.id }, "handoffs");
  return (
    <Audited>
      <List
        pages={pages}
        label="Handoffs"
        columns={columnsOf(agent)}
        linkOf={({ id }) => `/agents/${agent.id}/handoffs/${id}`}
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
