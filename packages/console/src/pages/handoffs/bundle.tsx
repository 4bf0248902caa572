import { Link, useParams } from "react-router";
import type { BundleForPeople } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/text.ts";
import { useLoad } from "../../data/use-load.ts";
import { useNames } from "../../data/use-names.ts";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Lock } from "../../ui/icons.tsx";
import { Card, Empty, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, Table, wideColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Id, Time } from "../../ui/text.tsx";
import { Brief } from "./brief.tsx";
import { NO_QUERY } from "./bundles.tsx";

type Item = BundleForPeople["items"][number];

/** One bundle of an agent: its items with the reason of each, and the brief. */
export function BundlePage() {
  const { id: agent_id = "", bundle: id = "" } = useParams();
  const nameOf = useNames();
  const loaded = useLoad((signal) => api.bundles.getOfAgent({ agent_id, id }, { signal }), [agent_id, id]);
  return (
    <DetailPage
      of={loaded}
      kind="Bundle"
      above={{ "/agents": "Agents", [`/agents/${agent_id}?tab=bundles`]: nameOf(agent_id) }}
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
            <Card>
              <Facts
                of={{
                  Gathered: <Time at={data.created_at} />,
                  Items: data.items.length,
                  Weights: data.weights_version,
                  ID: <Id>{data.id}</Id>,
                }}
              />
            </Card>
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

const columnsOf = (agent_id: string): Column<Item>[] => [
  column("Item", (item) => (
    <div className="titled">
      {item.title ? (
        <Link to={linkOf(item, agent_id)}>{item.title}</Link>
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
  return (
    <Table
      label="Items"
      columns={columnsOf(bundle.agent_id)}
      rows={bundle.items}
      keyOf={({ item_id }) => item_id}
    />
  );
}

function BundleBrief({ bundle }: { bundle: BundleForPeople }) {
  if (bundle.rendered_brief !== null) return <Brief>{bundle.rendered_brief}</Brief>;
  return (
    <Empty icon={Lock} title="The brief is private">
      It quotes memories or outputs that only the agent and its owner can read.
    </Empty>
  );
}
