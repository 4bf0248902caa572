import { ScrollText } from "lucide-react";
import { useEffect, useState } from "react";
import type { AuditEntry } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { fullTime } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { Empty, Facts } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Id, Json, Time } from "../../ui/text.tsx";
import { Who } from "../../ui/who.tsx";

/** The audit log, latest first. */
export function Audit() {
  const [search, change] = useAddress();
  const [shown, setShown] = useState<AuditEntry>();
  const action = search.get("action") ?? "";
  const [text, setText] = useState(action);
  useEffect(() => setText(action), [action]);
  const pages = useList(api.audit.list, action ? { action } : {}, "audit", "audit");
  const columns: Column<AuditEntry>[] = [
    { name: "Action", cell: (entry) => <EntryButton entry={entry} open={setShown} /> },
    { name: "Actor", cell: (entry) => (entry.actor_id ? <Who id={entry.actor_id} /> : entry.actor_kind) },
    {
      name: "Resource",
      cell: ({ resource_type, resource_id }) =>
        resource_type ? <span className="truncate on">{`${resource_type} ${resource_id ?? ""}`}</span> : "–",
      wideOnly: true,
    },
    { name: "IP address", cell: ({ ip }) => ip ?? "–", wideOnly: true },
    { name: "Time", cell: ({ at }) => <Time at={at} />, end: true },
  ];
  return (
    <div className="stack">
      <form
        className="row end-fields"
        onSubmit={(event) => {
          event.preventDefault();
          change({ action: text.trim() });
        }}
      >
        <TextField label="Action" value={text} onChange={setText} placeholder="memories.erase" />
        <Button type="submit">Filter</Button>
      </form>
      <List
        pages={pages}
        label="Audit log"
        columns={columns}
        empty={
          <Empty icon={ScrollText} title={action ? `No entries for “${action}”` : "No entries yet"}>
            Changes by admins, deletions, erasures and decisions reserved for people are recorded here.
          </Empty>
        }
      />
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}

function EntryButton({ entry, open }: { entry: AuditEntry; open(entry: AuditEntry): void }) {
  return (
    <button type="button" className="link" onClick={() => open(entry)}>
      <code>{entry.action}</code>
    </button>
  );
}

function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  return (
    <Dialog light title={entry.action} onClose={onClose}>
      <div className="stack">
        <Facts
          of={{
            Actor: (
              <>
                {entry.actor_id ? <Who id={entry.actor_id} /> : "–"} ({entry.actor_kind})
              </>
            ),
            Time: fullTime(entry.at),
            Resource: entry.resource_type && (
              <>
                {entry.resource_type} {entry.resource_id}
              </>
            ),
            "IP address": entry.ip,
            Request: entry.request_id && <Id>{entry.request_id}</Id>,
          }}
        />
        <Json value={entry.details} label="Details" />
      </div>
    </Dialog>
  );
}
