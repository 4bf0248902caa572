import { Page } from "../../ui/page.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Connectors } from "./connectors.tsx";
import { Webhooks } from "./webhooks.tsx";
import "./ingest.css";

/** Events from other systems. */
export function Ingest() {
  return (
    <Page title="Ingest" lead="Events from other systems, through webhooks and message brokers.">
      <Tabs
        label="Ingest"
        tabs={[
          { key: "webhooks", label: "Webhooks", content: <Webhooks /> },
          { key: "connectors", label: "Connectors", content: <Connectors /> },
        ]}
      />
    </Page>
  );
}
