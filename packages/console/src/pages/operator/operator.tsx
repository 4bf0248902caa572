import { useState } from "react";
import {
  byToken,
  type Client,
  createClient,
  type NodeReport,
  type TenantsUsageParams,
  type TenantUsage,
} from "../../../../client/index.ts";
import { bytes, number, plural } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { Button } from "../../ui/button.tsx";
import { type Option, optionsOf } from "../../ui/field.tsx";
import { select, text, useForm } from "../../ui/form.tsx";
import { Form } from "../../ui/form-dialog.tsx";
import { Card, Facts, Page } from "../../ui/page.tsx";
import { column, endColumn, Load, Table, wideEndColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Badge, Time } from "../../ui/text.tsx";

/** The operator's token is kept by this page alone, and forgotten when it is left. */
export function Operator() {
  const [client, setClient] = useState<Client>();
  return (
    <Page title="Operator" lead="Tenants and nodes of the whole installation.">
      {client ? (
        <Tabs
          label="Operator"
          tabs={[
            { key: "usage", label: "Usage", content: <Usage client={client} /> },
            { key: "nodes", label: "Nodes", content: <Nodes client={client} /> },
          ]}
        />
      ) : (
        <Enter onEnter={setClient} />
      )}
    </Page>
  );
}

const TOKEN = {
  token: text("Operator token", {
    type: "password",
    required: true,
    hint: "OPERATOR_TOKEN of the installation. It stays on this page.",
  }),
};

function Enter({ onEnter }: { onEnter(client: Client): void }) {
  const form = useForm(TOKEN);
  const task = useFormTask(async () => {
    const client = createClient({ url: location.origin, retries: 1, authorize: byToken(form.drafts.token) });
    await client.nodes.installation({});
    onEnter(client);
  });
  return (
    <Form task={task} submit="Continue">
      {form.rows()}
    </Form>
  );
}

type Sort = NonNullable<TenantsUsageParams["sort"]>;

const SORTS: Option<Sort>[] = [
  { value: "cpu_ms", label: "Processor time" },
  ...optionsOf(["requests", "events", "deliveries", "dead_letters", "searches"]),
  { value: "stored_bytes", label: "Stored" },
];
const HOURS = [
  { value: "2", label: "2 hours" },
  { value: "24", label: "24 hours" },
  { value: "168", label: "7 days" },
];

const SHOWN = { sort: select("Largest by", SORTS), hours: select("Of the last", HOURS) };

function Usage({ client }: { client: Client }) {
  const form = useForm(SHOWN, { hours: "24" });
  const { sort, hours } = form.drafts;
  const usage = useRead(client.tenants.usage, { sort, hours: Number(hours), limit: 100 });
  return (
    <div className="stack">
      {form.grid("sort", "hours")}
      <Load of={usage}>{({ tenants }) => <Table label="Usage" columns={USAGE} rows={tenants} />}</Load>
    </div>
  );
}

const USAGE = [
  column<TenantUsage>("Tenant", ({ slug, status }) => (
    <>
      {slug} {status === "suspended" && <Badge label="Suspended" />}
    </>
  )),
  endColumn<TenantUsage>("CPU", ({ cpu_share }) => `${(100 * cpu_share).toFixed(1)} %`),
  endColumn<TenantUsage>("Requests", ({ requests }) => number(requests)),
  wideEndColumn<TenantUsage>("Events", ({ events }) => number(events)),
  wideEndColumn<TenantUsage>("Deliveries", ({ deliveries }) => number(deliveries)),
  wideEndColumn<TenantUsage>("Dead letters", ({ dead_letters }) => number(dead_letters)),
  wideEndColumn<TenantUsage>("Searches", ({ searches }) => number(searches)),
  wideEndColumn<TenantUsage>("Stored", ({ stored_bytes }) => bytes(stored_bytes)),
];

function Nodes({ client }: { client: Client }) {
  const found = useRead(client.nodes.list, {});
  const seconds = (age: number | null) => (age === null ? "None" : plural(Math.round(age), "second"));
  return (
    <Load of={found}>
      {({ ages, problems, nodes }) => (
        <div className="stack">
          <Card
            title={plural(problems.length, "problem")}
            actions={<Button label="Check again" small onClick={() => void found.reload()} />}
          >
            <ul>
              {problems.map(({ node, check, severity, text }) => (
                <li key={`${node} ${check} ${text}`}>
                  <Badge label={check} tone={severity === "wrong" ? "bad" : "warn"} />{" "}
                  {node ?? "Installation"}: {text}
                </li>
              ))}
            </ul>
            <Facts
              of={{
                "Oldest event to fan out": seconds(ages.fan_out_seconds),
                "Deliveries late by": seconds(ages.delivery_seconds),
              }}
            />
          </Card>
          <Table label="Nodes" columns={NODES} rows={nodes} keyOf={({ node }) => node} />
        </div>
      )}
    </Load>
  );
}

const NODES = [
  column<NodeReport>("Node", ({ node, status }) => (
    <>
      {node}{" "}
      <Badge label={status === "ready" ? "Ready" : "Not ready"} tone={status === "ready" ? "good" : "bad"} />
    </>
  )),
  column<NodeReport>("Version", ({ version }) => version),
  endColumn<NodeReport>("Disk free", ({ disk }) => disk && bytes(disk.free_bytes)),
  wideEndColumn<NodeReport>("Memory", ({ memory_bytes }) => bytes(memory_bytes)),
  wideEndColumn<NodeReport>("Without vector", ({ indexes }) => number(indexes.without_vector)),
  wideEndColumn<NodeReport>("Started", ({ started_at }) => <Time at={started_at} />),
];
