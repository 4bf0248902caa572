import type { AuditEntry } from "../../../../client/index.ts";
import { fullTime } from "../../data/format.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/page.tsx";
import { Id, Json } from "../../ui/text.tsx";
import { Resource } from "./resource.tsx";
import { Actor, Outcome } from "./words.tsx";

/** An entry with its ids and details. */
export function EntryDialog({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
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
