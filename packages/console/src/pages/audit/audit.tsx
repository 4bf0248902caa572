import { useState } from "react";
import type { AuditEntry } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { fullTime } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Download, ScrollText } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Empty, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideColumn } from "../../ui/table.tsx";
import { Id, Json, Time } from "../../ui/text.tsx";
import { Filters, filtersOf } from "./filters.tsx";
import { Resource } from "./resource.tsx";
import { useTimeRange } from "./time-range.ts";
import { Actor, Outcome } from "./words.tsx";

const columnsOf = (open: (entry: AuditEntry) => void): Column<AuditEntry>[] => [
  column("Action", (entry) => (
    <button type="button" className="link" onClick={() => open(entry)}>
      <code>{entry.action}</code>
    </button>
  )),
  column("Actor", (entry) => <Actor entry={entry} />),
  column("Resource", (entry) => <Resource entry={entry} />),
  column("Outcome", (entry) => <Outcome entry={entry} />),
  wideColumn("IP address", ({ ip }) => ip ?? "–"),
  endColumn("Time", ({ at }) => <Time at={at} />),
];

/** The audit log, latest first. */
export function Audit() {
  const [search] = useAddress();
  const [shown, setShown] = useState<AuditEntry>();
  const filter = { ...filtersOf(search), ...useTimeRange(search) };
  const pages = useList(api.audit.list, filter, "audit", "audit");
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <div className="stack">
      <Filters />
      <List
        pages={pages}
        label="Audit log"
        columns={columnsOf(setShown)}
        actions={<Export filter={filter} />}
        empty={
          <Empty icon={ScrollText} title={isFiltered ? "No entries for these filters" : "No entries yet"}>
            Changes by admins, deletions, erasures and decisions reserved for people are recorded here.
          </Empty>
        }
      />
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </div>
  );
}

/** Downloads all entries that match. The browser saves them as they arrive. */
function Export({ filter }: { filter: Record<string, string> }) {
  const { may } = useSession();
  const save = useTask(async (format: string) => {
    // A refusal, such as of an ended session, would be saved as the file.
    await api.audit.list({ ...filter, limit: 1 });
    const link = document.createElement("a");
    link.href = `/v1/audit/export?${new URLSearchParams({ format, ...filter })}`;
    link.download = `audit.${format}`;
    link.click();
  });
  if (!may("audit.export")) return null;
  return (
    <Menu
      trigger={<Button label="Export" icon={Download} busy={save.busy} />}
      choices={[
        { label: "CSV, for spreadsheets", onSelect: () => save.run("csv") },
        { label: "NDJSON, one entry per line", onSelect: () => save.run("ndjson") },
      ]}
    />
  );
}

/** An entry with its ids and details. */
function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  return (
    <Dialog light title={entry.action} onClose={onClose}>
      <div className="stack">
        <Facts
          of={{
            Actor: <Actor entry={entry} />,
            Time: fullTime(entry.at),
            Outcome: <Outcome entry={entry} />,
            Error: entry.error,
            Resource: entry.resource_type && <Resource entry={entry} />,
            "Resource ID": entry.resource_id && <Id>{entry.resource_id}</Id>,
            "Actor ID": entry.actor_id && <Id>{entry.actor_id}</Id>,
            "IP address": entry.ip,
            Request: entry.request_id && <Id>{entry.request_id}</Id>,
            Entry: <Id>{entry.id}</Id>,
          }}
        />
        <Json value={entry.details} label="Details" />
      </div>
    </Dialog>
  );
}
