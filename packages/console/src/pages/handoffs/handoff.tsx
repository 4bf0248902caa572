import { Link, useParams } from "react-router";
import type { HandoffForPeople } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLoad } from "../../data/use-load.ts";
import { useNames } from "../../data/use-names.ts";
import { Badge } from "../../ui/badge.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Json, Time } from "../../ui/text.tsx";
import { Brief } from "./brief.tsx";
import { Expiry } from "./handoffs.tsx";

/** One handoff of an agent: what its successor gets, and its fields. */
export function HandoffPage() {
  const { id: agent_id = "", handoff: id = "" } = useParams();
  const nameOf = useNames();
  const loaded = useLoad((signal) => api.handoffs.getOfAgent({ agent_id, id }, { signal }), [agent_id, id]);
  return (
    <DetailPage
      of={loaded}
      kind="Handoff"
      above={{ "/agents": "Agents", [`/agents/${agent_id}?tab=handoffs`]: nameOf(agent_id) }}
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
          <About handoff={data} />
        </div>
      )}
    </DetailPage>
  );
}

function About({ handoff }: { handoff: HandoffForPeople }) {
  const { agent_id, bundle_id, citations, last_resumed_at } = handoff;
  return (
    <Card>
      <Facts
        of={{
          Saved: <Time at={handoff.updated_at} />,
          Created: <Time at={handoff.created_at} />,
          Resumed: last_resumed_at ? <Time at={last_resumed_at} /> : "Never",
          Expires: <Expiry handoff={handoff} />,
          Client: handoff.origin_client,
          Bundle: bundle_id && (
            <Link to={`/agents/${agent_id}/bundles/${bundle_id}`}>Context it started with</Link>
          ),
          Memories: citations.length > 0 && (
            <ul className="plain-list">
              {citations.map(({ memory_id, title }) => (
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
          ID: <Id>{handoff.id}</Id>,
        }}
      />
    </Card>
  );
}
