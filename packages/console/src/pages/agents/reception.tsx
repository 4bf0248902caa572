import { Link } from "react-router";
import type { Agent, Reception as Explained } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { filled, plural } from "../../data/format.ts";
import { useRead } from "../../data/queries.ts";
import { useAddress } from "../../data/use-address.ts";
import { text, useForm } from "../../ui/form.tsx";
import { Form } from "../../ui/form-dialog.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { column, Load, Table, wideColumn } from "../../ui/table.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Badge, FilterText, Id, Time, type Tone } from "../../ui/text.tsx";
import { HEALTH } from "./health.tsx";

type Subscription = Explained["subscriptions"][number];

const VERDICTS: Record<NonNullable<Subscription["reason"]>, { label: string; tone: Tone }> = {
  match: { label: "Matches", tone: "good" },
  type: { label: "Another type", tone: "neutral" },
  filter: { label: "Filter is false", tone: "neutral" },
  filter_error: { label: "Filter failed", tone: "bad" },
  suspended: { label: "Suspended: too expensive", tone: "warn" },
  later: { label: "Newer than the event", tone: "warn" },
};

const FIELDS = {
  event: text("Event ID", { placeholder: "Newest dead letter, else pending, else latest event" }),
};

/** Why the agent receives an event, or nothing. */
export function Reception({ agent }: { agent: Agent }) {
  const [search, change] = useAddress();
  const event_id = search.get("event") ?? "";
  const form = useForm(FIELDS, { event: event_id });
  const which = { agent_id: agent.id, ...filled({ event_id }) };
  const found = useRead(api.deliveries.explain, which, HEALTH);
  const task = useFormTask(async () => change({ event: form.values().event }));
  return (
    <div className="stack">
      <Form task={task} submit="Explain">
        {form.rows()}
      </Form>
      <Load of={found}>{(explained) => <Explanation of={explained} />}</Load>
    </div>
  );
}

function Explanation({ of: { reasons, event, delivery, subscriptions, health, limits } }: { of: Explained }) {
  return (
    <>
      <Card title="Why">
        <ul className="reasons">
          {reasons.map(({ text }) => (
            <li key={text}>{text}</li>
          ))}
          {reasons.length === 0 && <li>Nothing keeps events from this agent.</li>}
        </ul>
      </Card>
      {subscriptions.length > 0 && (
        <Table label="Interests and feeds" columns={COLUMNS} rows={subscriptions} />
      )}
      <FactsCard
        title="Event and limits"
        of={{
          Event: event && <Link to={`/events/${event.event_id}`}>{event.type}</Link>,
          "Event ID": event && <Id>{event.event_id}</Id>,
          Published: event && <Time at={event.accepted_at} />,
          Delivery: delivery && <Id>{delivery.id}</Id>,
          "Pending, in flight, dead": `${health.pending}, ${health.in_flight}, ${health.dead}`,
          Lease: plural(limits.visibility_timeout_seconds, "second"),
          "Retry budget": plural(limits.retry_budget, "attempt"),
          "Deliveries at once": limits.max_in_flight ?? "No limit",
          "Deliveries per minute": limits.max_per_minute ?? "No limit",
          "Requests per minute": limits.requests_per_minute ?? "No limit",
        }}
      />
    </>
  );
}

const COLUMNS = [
  column<Subscription>("Event type", ({ event_type, kind }) => (
    <div className="titled">
      <code>{event_type}</code>
      <span className="muted small">{kind === "feed" ? "Feed of a channel" : "Interest"}</span>
    </div>
  )),
  wideColumn<Subscription>("Filter", ({ filter_expression }) => <FilterText filter={filter_expression} />),
  column<Subscription>("This event", ({ reason, error }) => (
    <div className="titled">
      <span>{reason && <Badge {...VERDICTS[reason]} />}</span>
      {error && <span className="muted small">{error}</span>}
    </div>
  )),
  wideColumn<Subscription>("No match since", ({ unmatched_since }) =>
    unmatched_since ? <Time at={unmatched_since} /> : null,
  ),
];
