import type { ListedEvent, TimelineEntry } from "../../../../client/index.ts";
import { capitalised, clockTime, duration, fullTime, number } from "../../data/format.ts";
import { Badge, type Tone } from "../../ui/text.tsx";
import "./events.css";

/** Of the entries that are called otherwise than their code. */
const WORDS: Record<string, string> = {
  unmatched: "No match",
  parked: "Parked: matching failed",
  handed_out: "Delivered",
  nacked: "Rejected by the agent",
  returned: "Returned: the stream closed",
  dead: "Dead-lettered",
};

const TONES: Record<string, string> = {
  acknowledged: "good",
  dead: "bad",
  parked: "bad",
  nacked: "warn",
  lease_expired: "warn",
  unmatched: "warn",
};

/** The history in order, with the time between entries. */
export function Timeline({ entries }: { entries: readonly TimelineEntry[] }) {
  if (entries.length === 0) return <p className="faint small">No entries yet.</p>;
  return (
    <ol className="timeline">
      {entries.map((entry, at) => (
        // Entries are only appended, and two may be equal.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={at} className={TONES[entry.what] ?? ""}>
          <div className="row nowrap">
            <span className="grow">{WORDS[entry.what] ?? capitalised(entry.what)}</span>
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

const STATE_TONES: Record<string, Tone> = {
  pending: "info",
  ready: "info",
  leased: "accent",
  waiting: "warn",
  acknowledged: "good",
  dead: "bad",
};

const STATE_WORDS: Record<string, string> = {
  leased: "In flight",
  waiting: "Waiting to retry",
  dead: "Dead-lettered",
};

export function DeliveryState({ state }: { state: string }) {
  return <Badge label={STATE_WORDS[state] ?? capitalised(state)} tone={STATE_TONES[state] ?? "neutral"} />;
}
