import { Pause, Play, Plug, Trash2 } from "lucide-react";
import type { Connector } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import type { Column } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { ConnectorDialog } from "./connector-dialog.tsx";
import { ConnectorState } from "./words.tsx";

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
  {
    name: "Connector",
    cell: (connector) => <Name connector={connector} edit={edit} />,
  },
  { name: "Status", cell: (connector) => <ConnectorState connector={connector} /> },
  { name: "Lag", cell: ({ lag }) => (lag === null ? "–" : number(lag)), end: true },
  { name: "Events", cell: ({ counts }) => number(counts.accepted), end: true, wideOnly: true },
  { name: "Duplicates", cell: ({ counts }) => number(counts.duplicates), end: true, wideOnly: true },
  { name: "Mapping errors", cell: ({ counts }) => number(counts.mapping_errors), end: true, wideOnly: true },
  { name: "", cell: (connector) => <RowActions connector={connector} reload={reload} />, end: true },
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
  const remove = useConfirmed(() => ({
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
