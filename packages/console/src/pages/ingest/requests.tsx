import { Link } from "react-router";
import type { WebhookRequest } from "../../../../client/index.ts";
import { number } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { RequestOutcome } from "./words.tsx";

const COLUMNS: Column<WebhookRequest>[] = [
  { name: "Outcome", cell: (request) => <RequestOutcome request={request} /> },
  { name: "Result", cell: (request) => <Result request={request} /> },
  { name: "Signature", cell: ({ signature }) => signature ?? "–", wideOnly: true },
  { name: "Bytes", cell: ({ size }) => number(size), end: true, wideOnly: true },
  { name: "Received", cell: ({ at }) => <Time at={at} />, end: true },
];

/** The last requests of a webhook, newest first. */
export function Requests({ requests }: { requests: readonly WebhookRequest[] }) {
  if (requests.length === 0)
    return <p className="muted">No requests yet. Refused ones are shown here too, with the reason.</p>;
  return (
    <Table
      label="Last requests"
      columns={COLUMNS}
      rows={requests}
      keyOf={({ request_id, at }) => `${request_id} ${at}`}
    />
  );
}

function Result({ request: { reason, event_id, events, dead_letter_id } }: { request: WebhookRequest }) {
  if (dead_letter_id)
    return (
      <>
        {capitalised(reason ?? "")} <Link to="/dead-letters">Dead letters</Link>
      </>
    );
  if (!event_id) return <>{reason ? capitalised(reason) : "–"}</>;
  return <Link to={`/events/${event_id}`}>{events > 1 ? `First of ${events} events` : "Event"}</Link>;
}
