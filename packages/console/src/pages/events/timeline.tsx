import type { ListedEvent, TimelineEntry } from "../../../../client/index.ts";
import { capitalised, clockTime, duration, fullTime, number } from "../../data/format.ts";
import { Badge, type Tone } from "../../ui/text.tsx";
import "./events.css";

/** What is said of an entry if it is not its code, and whether it is good or bad. */
const ENTRIES: Partial<Record<string, { label?: string; tone?: Tone }>> = {
  unmatched: { label: "No match", tone: "warn" },
  parked: { label: "Parked: matching failed", tone: "bad" },
  handed_out: { label: "Delivered" },
  nacked: { label: "Rejected by the agent", tone: "warn" },
  returned: { label: "Returned: the stream closed" },
  lease_expired: { tone: "warn" },
  acknowledged: { tone: "good" },
  dead: { label: "Dead-lettered", tone: "bad" },
};

/** The history in order, with the time between entries. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <p className="faint small">No entries yet.</p>;
  return (
    <ol className="timeline">
      {entries.map((entry, at) => (
        // Entries are only appended, and two may be equal.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={at} className={ENTRIES[entry.what]?.tone}>
          <div className="row nowrap">
            <span className="grow">{ENTRIES[entry.what]?.label ?? capitalised(entry.what)}</span>
            <time dateTime={entry.at} title={fullTime(entry.at)} className="faint small num">
              {clockTime(entry.at)}
              {at > 0 && ` · +${duration(secondsBetween(entries[at - 1] as TimelineEntry, entry))}`}
            </time>
          </div>
          {entry.reason && <p className="muted small">{entry.reason}</p>}
        </li>
      ))}
    </ol>
  );
}

function secondsBetween(before: TimelineEntry, after: TimelineEntry): number {
  return Math.max(0, (Date.parse(after.at) - Date.parse(before.at)) / 1000);
}

/** The outcome of an event: how many of its deliveries are so, the worst first. */
export function Outcome({
  of: { outcome, deliveries },
}: {
  of: Pick<ListedEvent, "outcome" | "deliveries">;
}) {
  const { pending, acknowledged, dlq } = deliveries;
  const all = pending + acknowledged + dlq;
  const some = (count: number, word: string) =>
    all === 1 ? capitalised(word) : `${number(count)} of ${number(all)} ${word}`;
  if (outcome === "dead") return <Badge label={dlq ? some(dlq, "dead-lettered") : "Parked"} tone="bad" />;
  // Without a delivery it is not matched yet, such as a delayed one.
  if (outcome === "pending")
    return <Badge label={pending ? some(pending, "pending") : "Waiting"} tone={pending ? "info" : "warn"} />;
  if (outcome === "none") return <Badge label="No receiver" />;
  return <Badge label={all > 1 ? `${number(all)} done` : "Done"} tone="good" />;
}

const STATES: Partial<Record<string, { label?: string; tone: Tone }>> = {
  pending: { tone: "info" },
  ready: { tone: "info" },
  leased: { label: "In flight", tone: "accent" },
  waiting: { label: "Waiting to retry", tone: "warn" },
  acknowledged: { tone: "good" },
  dead: { label: "Dead-lettered", tone: "bad" },
};

export function DeliveryState({ state }: { state: string }) {
  return <Badge label={capitalised(state)} {...STATES[state]} />;
}
