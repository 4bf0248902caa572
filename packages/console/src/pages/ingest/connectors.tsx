import { useState } from "react";
import type { Connector } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { IconButton } from "../../ui/button.tsx";
import { SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog, type SavingProps, saveChanges, useAct } from "../../ui/form-dialog.tsx";
import { Pause, Play, Plug, Trash2 } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, wideEndColumn } from "../../ui/table.tsx";
import { toast, useSaving, useTask } from "../../ui/task.tsx";
import { Time } from "../../ui/text.tsx";
import {
  ConnectorState,
  draftOfMapping,
  emptyMapping,
  MappingFields,
  mappingOf,
  wholeMapping,
} from "./mapping.tsx";

export function Connectors() {
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
  const pause = useTask(async () => {
    await api.connectors.update({ connector_id, paused: !paused });
    toast({ title: paused ? `${name} resumed.` : `${name} paused. Messages stay at the broker.` });
    await reload();
  });
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
