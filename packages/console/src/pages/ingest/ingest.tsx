import { useState } from "react";
import { Link } from "react-router";
import type { Connector, Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, number } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { ButtonLink, IconButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog, type SavingProps, saveChanges, useAct } from "../../ui/form-dialog.tsx";
import { Pause, Play, Plug, Trash2, Webhook as WebhookIcon } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useFormTask, useSaving } from "../../ui/task.tsx";
import { Copy, Secret, Time } from "../../ui/text.tsx";
import {
  ConnectorState,
  draftOfMapping,
  emptyMapping,
  MappingFields,
  mappingOf,
  RequestOutcome,
  TestMapping,
  typeOfWebhook,
  type WebhookDraft,
  WebhookMappingFields,
  webhookMappingOf,
  wholeMapping,
} from "./mapping.tsx";
import { senderOf } from "./senders.ts";
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

const COLUMNS: Column<Webhook>[] = [
  column("Webhook", ({ id, name }) => (
    <Link to={`/ingest/webhooks/${id}`} className="strong-link">
      {name}
    </Link>
  )),
  column("Address", ({ url }) => (
    <span className="row nowrap">
      <code className="truncate address">{url}</code>
      <Copy text={url} label="Copy address" />
    </span>
  )),
  wideColumn("Type", ({ source, mapping }) => <code>{typeOfWebhook({ source, mapping })}</code>),
  column("Last request", ({ last_request }) =>
    last_request ? (
      <span className="last-request">
        <span className="row">
          <RequestOutcome request={last_request} /> <Time at={last_request.at} />
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
      linkOf={({ id }) => `/ingest/webhooks/${id}`}
      add="Add webhook"
      empty={{
        icon: WebhookIcon,
        title: "No webhooks yet",
        text: "Add a webhook for a sender such as GitHub: it gets an address and a signing secret, and each delivery becomes an event.",
      }}
      dialog={(_, onClose) => <AddDialog onClose={onClose} onDone={pages.reload} />}
    />
  );
}

type Created = Awaited<ReturnType<typeof api.ingest.createWebhook>>;

const newDraft = { name: "", source: "", secret: "", mapping: "github" as WebhookDraft };

function AddDialog({ onClose, onDone }: SavingProps) {
  const [draft, field] = useDraft(newDraft);
  const [made, setMade] = useState<Created>();
  const format = webhookMappingOf(draft.mapping);
  const sender = senderOf(format);
  const name = draft.name.trim() || (sender?.title ?? "");
  const source = draft.source.trim() || (sender && typeof format === "string" ? format : "");
  const add = useFormTask(async () => {
    const signing_secret = draft.secret.trim();
    setMade(
      await api.ingest.createWebhook({
        name,
        source,
        mapping: format,
        ...(signing_secret && { signing_secret }),
      }),
    );
    await onDone();
  });
  if (made) return <MadeDialog made={made} given={draft.secret !== ""} onClose={onClose} />;
  return (
    <FormDialog wide title="New webhook" submit="Add webhook" onClose={onClose} task={add}>
      <WebhookMappingFields source={source} {...field("mapping")} />
      <div className="grid-2">
        <TextField label="Name" {...field("name")} required={!sender} placeholder={name} maxLength={200} />
        <TextField
          label="Source"
          {...field("source")}
          required={!sender}
          maxLength={300}
          placeholder={source || "shop"}
          hint="Part of the address and of the event type."
        />
      </div>
      <TextField
        label="Signing secret"
        {...field("secret")}
        required={sender?.secret !== undefined}
        minLength={16}
        maxLength={256}
        className="mono"
        hint={sender?.secret ?? "Empty: a new one is created, which you enter at the sender."}
      />
      <details className="more-fields">
        <summary>Test the mapping</summary>
        <TestMapping webhook_id={null} source={source} mapping={format} />
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
      columns={(edit) => columnsOf(edit, pages.reload)}
      add="Add connector"
      empty={{
        icon: Plug,
        title: "No connectors yet",
        text: "Add a connector to receive messages of RabbitMQ, Azure Service Bus or another AMQP broker as events. Each message is acknowledged once its event is stored.",
      }}
      dialog={(connector, onClose) => (
        <ConnectorDialog connector={connector} onClose={onClose} onDone={pages.reload} />
      )}
    />
  );
}

const columnsOf = (
  edit: (connector: Connector) => void,
  reload: () => Promise<void>,
): Column<Connector>[] => [
  column("Connector", (connector) => <Name connector={connector} edit={edit} />),
  column("Status", (connector) => <ConnectorState connector={connector} />),
  endColumn("Lag", ({ lag }) => (lag === null ? "–" : number(lag))),
  wideEndColumn("Events", ({ counts }) => number(counts.accepted)),
  wideEndColumn("Duplicates", ({ counts }) => number(counts.duplicates)),
  wideEndColumn("Mapping errors", ({ counts }) => number(counts.mapping_errors)),
  endColumn("", (connector) => <RowActions connector={connector} reload={reload} />),
];

function Name({ connector, edit }: { connector: Connector; edit(connector: Connector): void }) {
  const { name, url, queue, address, last_error, last_error_at, state } = connector;
  return (
    <div className="connector-name">
      <button type="button" className="link" onClick={() => edit(connector)}>
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

function RowActions({ connector, reload }: { connector: Connector; reload(): Promise<void> }) {
  const { id: connector_id, name, paused } = connector;
  const pause = useAct(() => ({
    act: () => api.connectors.update({ connector_id, paused: !paused }),
    done: paused ? `${name} resumed.` : `${name} paused. Messages stay at the broker.`,
    after: reload,
  }));
  const remove = useAct(() => ({
    title: `Delete ${name}?`,
    text: "Messages in progress are finished first; the rest stay at the broker. Published events are kept. This cannot be undone.",
    action: "Delete",
    act: () => api.connectors.delete({ connector_id }),
    done: `${name} deleted.`,
    after: reload,
  }));
  return (
    <span className="row nowrap end">
      <IconButton
        icon={paused ? Play : Pause}
        label={paused ? `Resume ${name}` : `Pause ${name}`}
        disabled={pause.busy}
        onClick={() => pause.run()}
      />
      <IconButton
        icon={Trash2}
        label={`Delete ${name}`}
        disabled={remove.busy}
        onClick={() => remove.run()}
      />
    </span>
  );
}

/** Without a connector, a new one is added. */
type Props = SavingProps & { connector: Connector | undefined };

const KINDS = [
  { value: "amqp091", label: "RabbitMQ (AMQP 0-9-1)" },
  { value: "amqp10", label: "Azure Service Bus, Artemis, Qpid and others (AMQP 1.0)" },
];

const whole = (connector: Connector): Connector => ({
  ...connector,
  mapping: wholeMapping(connector.mapping),
});

/** Returns the saved connector; null if others changed the same fields and the person keeps theirs. */
function saveConnector(before: Connector, wanted: Partial<Connector>) {
  const which = { connector_id: before.id };
  const connectors = {
    get: async () => whole(await api.connectors.get(which)),
    update: api.connectors.update,
  };
  return saveChanges(connectors, which, whole(before), wanted, "/ingest?tab=connectors");
}

const draftOf = (connector: Connector | undefined) => ({
  name: connector?.name ?? "",
  kind: connector?.kind ?? ("amqp091" as const),
  url: "",
  from: "",
  source: connector?.source ?? "",
  prefetch: String(connector?.prefetch ?? 100),
  mapping: connector ? draftOfMapping(connector.mapping) : emptyMapping,
});

function ConnectorDialog({ connector, onClose, onDone }: Props) {
  const [before] = useState(connector);
  const [{ name, kind, url, from, source, prefetch, mapping }, field] = useDraft(() => draftOf(connector));
  const save = useSaving({ onClose, onDone }, async () => {
    const parts = { name: name.trim(), mapping: mappingOf(mapping), prefetch: Number(prefetch) };
    if (before) {
      if (!(await saveConnector(before, parts))) return false;
    } else
      await api.connectors.create({
        ...parts,
        kind,
        url,
        source: source.trim(),
        ...(kind === "amqp091" ? { queue: from } : { address: from }),
      });
    return before ? "Saved. Applies to new messages." : `Connecting ${name}.`;
  });
  return (
    <FormDialog
      wide
      title={connector ? connector.name : "New connector"}
      submit={connector ? "Save" : "Add connector"}
      onClose={onClose}
      task={save}
    >
      <TextField label="Name" {...field("name")} required maxLength={200} />
      {!connector && (
        <>
          <SelectField label="Broker" {...field("kind")} options={KINDS} />
          <TextField
            label="Address"
            {...field("url")}
            required
            pattern="amqps?://.+"
            placeholder="amqps://user:password@rabbit.example.com/"
            hint="Including credentials, which are never shown again."
          />
          <div className="grid-2">
            <TextField
              label={kind === "amqp091" ? "Queue" : "Source address"}
              {...field("from")}
              required
              placeholder={kind === "amqp091" ? "orders" : "/amq/queue/orders"}
              hint="Must exist."
            />
            <TextField
              label="Source"
              {...field("source")}
              required
              placeholder="shop"
              hint="The second part of the event type."
            />
          </div>
        </>
      )}
      <TextField
        label="Prefetch"
        type="number"
        min={1}
        max={1000}
        {...field("prefetch")}
        hint="Maximum number of unstored messages per node."
      />
      <MappingFields source={source} {...field("mapping")} idDefault="Default: the broker's message ID." />
    </FormDialog>
  );
}
