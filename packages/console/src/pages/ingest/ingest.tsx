import { useState } from "react";
import type { Connector, Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, number } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import type { Option } from "../../ui/field.tsx";
import { number as numeric, select, text, useForm } from "../../ui/form.tsx";
import { ActIcon, FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Pause, Play, Plug, Trash2, Webhook as WebhookIcon } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, RowLink, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useFormTask, useSaving } from "../../ui/task.tsx";
import { Badge, Copied, Secret, Time } from "../../ui/text.tsx";
import {
  MappingFields,
  mappingField,
  OUTCOMES,
  TestMapping,
  typeOfWebhook,
  WebhookMappingFields,
  webhookField,
} from "./mapping.tsx";
import { senderOf } from "./senders.ts";
import { SignatureFields, signatureField } from "./signature.tsx";
import "./ingest.css";

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

const COLUMNS: Column<Webhook>[] = [
  column("Webhook", ({ id, name }) => (
    <RowLink to={`/ingest/webhooks/${id}`} className="strong-link">
      {name}
    </RowLink>
  )),
  column("Address", ({ url }) => <Copied text={url} label="Copy address" className="address" />),
  wideColumn("Type", ({ source, mapping }) => <code>{typeOfWebhook({ source, mapping })}</code>),
  column("Last request", ({ last_request }) =>
    last_request ? (
      <span className="last-request">
        <span className="row">
          <Badge {...OUTCOMES[last_request.outcome]} dot /> <Time at={last_request.at} />
        </span>
        {last_request.reason && (
          <span className={last_request.outcome === "refused" ? "small connector-error" : "small muted"}>
            {capitalised(last_request.reason)}
          </span>
        )}
      </span>
    ) : (
      "No requests yet"
    ),
  ),
];

function Webhooks() {
  const pages = useList(api.ingest.listWebhooks, {}, "webhooks", "ingest");
  return (
    <EditableList
      pages={pages}
      label="Webhooks"
      columns={COLUMNS}
      add="Add webhook"
      empty={{
        icon: WebhookIcon,
        title: "No webhooks yet",
        text: "Add a webhook for a sender such as GitHub: it gets an address and a signing secret, and each delivery becomes an event.",
      }}
      dialog={(_, onClose) => <AddDialog onClose={onClose} />}
    />
  );
}

type Created = Awaited<ReturnType<typeof api.ingest.createWebhook>>;

/** The secret that a sender signs with. */
export const SIGNING = { minLength: 16, maxLength: 256, className: "mono" } as const;

const WEBHOOK = {
  mapping: webhookField,
  name: text("Name", { maxLength: 200 }),
  source: text("Source", { maxLength: 300, hint: "Part of the address and of the event type." }),
  signature: signatureField,
  signing_secret: text("Signing secret", SIGNING),
};

function AddDialog({ onClose }: SavingProps) {
  const form = useForm(WEBHOOK);
  const [made, setMade] = useState<Created>();
  const { mapping, signature, signing_secret, ...given } = form.values();
  const sender = senderOf(mapping);
  const name = given.name ?? sender?.title ?? "";
  const source = given.source ?? (sender && typeof mapping === "string" ? mapping : "");
  const add = useFormTask(async () => {
    const more = filled({ signing_secret, signature: sender ? null : signature });
    setMade(await api.ingest.createWebhook({ name, source, mapping, ...more }));
  });
  if (made) return <MadeDialog made={made} given={signing_secret !== null} onClose={onClose} />;
  return (
    <FormDialog wide title="New webhook" submit="Add webhook" onClose={onClose} task={add}>
      <WebhookMappingFields
        source={source}
        value={form.drafts.mapping}
        onChange={(draft) => form.change({ mapping: draft })}
      />
      <div className="grid-2">
        {form.show("name", { required: !sender, placeholder: name })}
        {form.show("source", { required: !sender, placeholder: source || "shop" })}
      </div>
      {!sender && (
        <SignatureFields value={form.drafts.signature} onChange={(signature) => form.change({ signature })} />
      )}
      {form.show("signing_secret", {
        required: sender?.secret !== undefined,
        hint: sender?.secret ?? "Empty: a new one is created, which you enter at the sender.",
      })}
      <details className="more-fields">
        <summary>Test the mapping</summary>
        <TestMapping webhook_id={null} source={source} mapping={mapping} />
      </details>
    </FormDialog>
  );
}

function MadeDialog({ made, given, onClose }: { made: Created; given: boolean; onClose(): void }) {
  const test = <ButtonLink label="Open webhook" to={`/ingest/webhooks/${made.id}`} />;
  return (
    <Dialog title={`${made.name} added`} onClose={onClose} footer={test} done="Done">
      <div className="stack">
        <Secret label="Address" value={made.url} note="The sender posts its deliveries here." />
        {!given && (
          <Secret
            label="Signing secret"
            value={made.signing_secret}
            note="Shown only once. The sender signs with it; unsigned deliveries are refused."
          />
        )}
      </div>
    </Dialog>
  );
}

function Connectors() {
  const pages = useList(api.connectors.list, {}, "connectors", "connector");
  return (
    <EditableList
      pages={pages}
      label="Connectors"
      columns={columnsOf}
      add="Add connector"
      empty={{
        icon: Plug,
        title: "No connectors yet",
        text: "Add a connector to receive messages of RabbitMQ, Azure Service Bus or another AMQP broker as events. Each message is acknowledged once its event is stored.",
      }}
      dialog={(connector, onClose) => <ConnectorDialog connector={connector} onClose={onClose} />}
    />
  );
}

const TONE = {
  connecting: "info",
  consuming: "good",
  paused: "neutral",
  retrying: "warn",
  failed: "bad",
} as const;

const columnsOf = (edit: (connector: Connector) => void): Column<Connector>[] => [
  column("Connector", (connector) => <Name connector={connector} edit={edit} />),
  column("Status", ({ state }) => <Badge label={capitalised(state)} tone={TONE[state]} dot />),
  endColumn("Lag", ({ lag }) => (lag === null ? "–" : number(lag))),
  wideEndColumn("Events", ({ counts }) => number(counts.accepted)),
  wideEndColumn("Duplicates", ({ counts }) => number(counts.duplicates)),
  wideEndColumn("Mapping errors", ({ counts }) => number(counts.mapping_errors)),
  endColumn("", (connector) => <RowActions connector={connector} />),
];

function Name({ connector, edit }: { connector: Connector; edit(connector: Connector): void }) {
  const { name, url, queue, address, last_error, last_error_at, state } = connector;
  return (
    <div className="connector-name">
      <button type="button" className="link opens" onClick={() => edit(connector)}>
        {name}
      </button>
      <code className="muted small truncate">
        {url} · {queue ?? address}
      </code>
      {last_error && state !== "consuming" && (
        <span className="small connector-error">
          {last_error} {last_error_at && <Time at={last_error_at} />}
        </span>
      )}
    </div>
  );
}

function RowActions({ connector }: { connector: Connector }) {
  const { id: connector_id, name, paused } = connector;
  return (
    <span className="row nowrap end">
      <ActIcon
        icon={paused ? Play : Pause}
        label={paused ? `Resume ${name}` : `Pause ${name}`}
        act={() => api.connectors.update({ connector_id, paused: !paused })}
        done={paused ? `${name} resumed.` : `${name} paused. Messages stay at the broker.`}
      />
      <ActIcon
        icon={Trash2}
        label={`Delete ${name}`}
        title={`Delete ${name}?`}
        text="Messages in progress are finished first; the rest stay at the broker. Published events are kept. This cannot be undone."
        action="Delete"
        act={() => api.connectors.delete({ connector_id })}
        done={`${name} deleted.`}
      />
    </span>
  );
}

/** Without a connector, a new one is added. */
type Props = SavingProps & { connector: Connector | undefined };

const KINDS: Option<Connector["kind"]>[] = [
  { value: "amqp091", label: "RabbitMQ (AMQP 0-9-1)" },
  { value: "amqp10", label: "Azure Service Bus, Artemis, Qpid and others (AMQP 1.0)" },
];

const CONNECTOR = {
  name: text("Name", { required: true, maxLength: 200 }),
  kind: select("Broker", KINDS),
  url: text("Address", {
    required: true,
    pattern: "amqps?://.+",
    placeholder: "amqps://user:password@rabbit.example.com/",
    hint: "Including credentials, which are never shown again.",
  }),
  queue: text("Queue", { required: true, placeholder: "orders", hint: "Must exist." }),
  address: text("Source address", { required: true, placeholder: "/amq/queue/orders", hint: "Must exist." }),
  source: text("Source", { required: true, placeholder: "shop", hint: "The second part of the event type." }),
  prefetch: numeric("Prefetch", { min: 1, max: 1000, hint: "Maximum number of unstored messages per node." }),
  mapping: mappingField,
};

function ConnectorDialog({ connector, onClose }: Props) {
  const form = useForm(CONNECTOR, connector ?? { prefetch: 100 });
  const { source, mapping: draft } = form.drafts;
  const from = form.drafts.kind === "amqp091" ? "queue" : "address";
  const save = useSaving(onClose, async () => {
    const { name, mapping, prefetch, kind, url, source, ...places } = form.values();
    const parts = { name, mapping, ...filled({ prefetch }) };
    if (!connector) {
      await api.connectors.create({ ...parts, kind, url, source, [from]: places[from] });
      return `Connecting ${name}.`;
    }
    const which = { connector_id: connector.id };
    const saved = await form.save(api.connectors, which, "/ingest?tab=connectors", parts);
    return saved ? "Saved. Applies to new messages." : false;
  });
  return (
    <FormDialog
      wide
      title={connector ? connector.name : "New connector"}
      submit={connector ? "Save" : "Add connector"}
      onClose={onClose}
      task={save}
    >
      {form.show("name")}
      {!connector && (
        <>
          {form.rows("kind", "url")}
          {form.grid(from, "source")}
        </>
      )}
      {form.show("prefetch")}
      <MappingFields
        source={source}
        value={draft}
        onChange={(mapping) => form.change({ mapping })}
        idDefault="Default: the broker's message ID."
      />
    </FormDialog>
  );
}
