import { Pause, Play, Plug, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { Connector } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useOnChange } from "../../data/live.ts";
import { useReload } from "../../data/use-fresh.ts";
import { useList } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Empty } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { ConnectorDialog } from "./connector-dialog.tsx";
import { ConnectorState } from "./words.tsx";

export function Connectors() {
  const [open, setOpen] = useState<Connector | "new" | null>(null);
  const pages = useList(api.connectors.list, {});
  useOnChange("connector", null, true, useReload(pages));
  const columns: Column<Connector>[] = [
    {
      name: "Connector",
      cell: (connector) => (
        <div className="connector-name">
          <button type="button" className="link" onClick={() => setOpen(connector)}>
            {connector.name}
          </button>
          <code className="muted small truncate">
            {connector.url} · {connector.queue ?? connector.address}
          </code>
          {connector.last_error && connector.state !== "consuming" && (
            <span className="small connector-error">
              {connector.last_error} {connector.last_error_at && <Time at={connector.last_error_at} />}
            </span>
          )}
        </div>
      ),
    },
    { name: "State", cell: (connector) => <ConnectorState connector={connector} /> },
    { name: "Waiting", cell: ({ lag }) => (lag === null ? "–" : number(lag)), end: true },
    { name: "Events", cell: ({ counts }) => number(counts.accepted), end: true, wideOnly: true },
    { name: "Not mapped", cell: ({ counts }) => number(counts.mapping_errors), end: true, wideOnly: true },
    {
      name: "",
      cell: (connector) => <RowActions connector={connector} reload={pages.reload} />,
      end: true,
    },
  ];
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setOpen("new")}>
      Add a connector
    </Button>
  );
  return (
    <div className="stack">
      <List
        pages={pages}
        actions={add}
        label="Connectors"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={Plug} title="No connectors yet" action={add}>
            A connector takes the messages of RabbitMQ, Azure Service Bus or another AMQP broker as events,
            and acknowledges each only when its event is stored.
          </Empty>
        }
      />
      {open && (
        <ConnectorDialog
          connector={open === "new" ? null : open}
          onClose={() => setOpen(null)}
          onSaved={pages.reload}
        />
      )}
    </div>
  );
}

function RowActions({ connector, reload }: { connector: Connector; reload(): Promise<void> }) {
  const { id: connector_id, name, paused } = connector;
  const pause = useTask(async () => {
    await api.connectors.update({ connector_id, paused: !paused });
    toast({ title: paused ? `${name} goes on.` : `${name} is paused: messages stay at the broker.` });
    await reload();
  });
  const remove = useTask(async () => {
    const wanted = await confirm({
      title: `Delete ${name}?`,
      text: "What it has taken is finished first; the rest stays at the broker. Events that came by it stay.",
      action: "Delete",
    });
    if (!wanted) return;
    await api.connectors.delete({ connector_id });
    toast({ title: `${name} is deleted.` });
    await reload();
  });
  return (
    <span className="row nowrap end">
      <IconButton
        icon={paused ? Play : Pause}
        label={paused ? `Let ${name} go on` : `Pause ${name}`}
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
