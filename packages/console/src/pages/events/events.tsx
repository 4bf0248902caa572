import { Link, useNavigate } from "react-router";
import type { EventsListParams, EventsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { filled } from "../../data/format.ts";
import { useList } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { useAddress } from "../../data/use-address.ts";
import { Button } from "../../ui/button.tsx";
import { CheckFilter, FilterForm, SelectFilter, useSince } from "../../ui/filters.tsx";
import { json, text, time, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Radio, Search, Send } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { briefColumn, type Column, column, endColumn, List, RowLink } from "../../ui/table.tsx";
import { toast, toastWarnings, useFormTask } from "../../ui/task.tsx";
import { Subject, Time } from "../../ui/text.tsx";
import { Outcome } from "./timeline.tsx";
import "./events.css";

type Listed = EventsListResult["events"][number];

const TEXTS = [
  ["type", "Type", "com.github.*"],
  ["source", "Source", "https://…"],
  ["subject", "Subject", "acme/shop#12"],
  ["id", "Producer's ID", "order-4711"],
] as const;

const WITHIN = [
  { value: "", label: "Any time" },
  { value: "1", label: "Last hour" },
  { value: "24", label: "Last day" },
  { value: "168", label: "Last 7 days" },
];

const OUTCOMES = [
  { value: "", label: "Any outcome" },
  { value: "dead", label: "Dead-lettered" },
  { value: "pending", label: "Pending" },
  { value: "none", label: "No receiver" },
];

const COLUMNS: Column<Listed>[] = [
  briefColumn("Outcome", (event) => <Outcome of={event} />),
  column("Type", ({ event_id, payload }) => (
    <RowLink to={`/events/${event_id}`} className="break">
      {payload.type}
    </RowLink>
  )),
  column("Subject", ({ payload }) => (
    <span className="muted clipped" title={payload.subject}>
      <Subject event={payload} />
    </span>
  )),
  column("Source", ({ payload }) => (
    <span className="muted clipped" title={payload.source}>
      {payload.source}
    </span>
  )),
  endColumn("Accepted", (event) => <Time at={event.accepted_at} />),
];

/** All events, latest first; the filters are in the address. */
export function Events() {
  const [search, set] = useAddress();
  const { user } = useSession();
  const asked = paramsOf(search);
  const since = useSince(Number(search.get("within")));
  // Types that are searched for are shown whether or not they are the service's own.
  const service = search.get("service") === "1" || OWN.test(asked.type ?? "");
  const filter = filled({ ...asked, since });
  const isFiltered = Object.keys(filter).length > 0;
  const publish = () => set({ publish: "1" });
  return (
    <Page
      title="Events"
      lead={
        user.role === "admin"
          ? "Published events, latest first, with their outcome."
          : "Events that you published, latest first, with their outcome. Admins see all events."
      }
      actions={<Button label="Publish event" kind="primary" icon={Send} onClick={publish} />}
    >
      <FilterForm
        label="Search events"
        texts={TEXTS}
        before={<SelectFilter name="outcome" label="Outcome" options={OUTCOMES} />}
        after={<SelectFilter name="within" label="Accepted" options={WITHIN} />}
        end={
          <>
            <CheckFilter name="waiting" label="Waiting only" />
            <CheckFilter name="service" label="Service events" />
          </>
        }
      />
      <List
        pages={useList(api.events.list, { ...filter, include_service: service }, "events", "event")}
        label="Events"
        columns={COLUMNS}
        empty={isFiltered ? <NoMatch service={service} /> : <NoEvents publish={publish} service={service} />}
      />
      {search.get("publish") && <Publish onClose={() => set({ publish: null })} />}
    </Page>
  );
}

/** The service's own events are hidden until asked for. */
function HiddenNote({ shown }: { shown: boolean }) {
  const [search] = useAddress();
  if (shown) return null;
  const all = new URLSearchParams(search);
  all.set("service", "1");
  return (
    <p>
      The service's own events are hidden: <Link to={`/events?${all}`}>show them</Link>.
    </p>
  );
}

function NoMatch({ service }: { service: boolean }) {
  const navigate = useNavigate();
  const clear = <Button label="Clear search" onClick={() => navigate("/events")} />;
  return (
    <Empty icon={Search} title="No matching events" action={clear}>
      <p>
        Types are globs: <code>com.github.*</code> matches every type with that prefix.
      </p>
      <HiddenNote shown={service} />
    </Empty>
  );
}

function NoEvents({ publish, service }: { publish(): void; service: boolean }) {
  const { may } = useSession();
  const first = <Button label="Publish event" icon={Send} onClick={publish} />;
  return (
    <Empty icon={Radio} title="No events yet" action={first}>
      <p>
        Events come from agents, from webhooks and brokers
        {may("ingest.listWebhooks") && (
          <>
            {" "}
            connected under <Link to="/ingest">Ingest</Link>
          </>
        )}
        , or from here.
      </p>
      <HiddenNote shown={service} />
    </Empty>
  );
}

/** The types of the service's own events. */
const OWN = /^(service|memory)\./;

type Asked = Pick<EventsListParams, (typeof TEXTS)[number][0] | "outcome" | "waiting">;

function paramsOf(search: URLSearchParams): Asked {
  const texts = Object.fromEntries(TEXTS.map(([name]) => [name, search.get(name)]));
  const outcome = OUTCOMES.find(({ value }) => value === search.get("outcome"))?.value;
  return filled({ ...texts, outcome, waiting: search.get("waiting") === "1" }) as Asked;
}

const EVENT = {
  type: text("Type", { required: true, hint: "Reverse DNS. Interests match it." }),
  source: text("Source", { required: true }),
  subject: text("Subject", { placeholder: "acme/shop#12" }),
  notbefore: time("Deliver at", {
    step: undefined,
    hint: "Empty: at once. Until then the event waits, and can be cancelled.",
  }),
  data: json("Data (JSON)", { rows: 7 }),
};

const EXAMPLE = {
  type: "com.example.order.created",
  source: `${location.origin}/console`,
  data: { total: 42 } as unknown,
};

/** Publishes an event manually, for testing. */
function Publish({ onClose }: SavingProps) {
  const navigate = useNavigate();
  const form = useForm(EVENT, EXAMPLE);
  const publish = useFormTask(async () => {
    const { data, ...attributes } = form.values();
    const event = {
      specversion: "1.0" as const,
      id: `console-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
      time: new Date().toISOString(),
      ...filled(attributes),
      ...(data !== undefined && { datacontenttype: "application/json", data }),
    };
    const result = await api.events.publish({ event });
    toastWarnings(result);
    if (!("event_id" in result)) return;
    const isKnown = result.status === "duplicate";
    toast({ title: isKnown ? "An event with this ID exists. This is the original." : "Published." });
    navigate(`/events/${result.event_id}`);
  });
  return (
    <FormDialog
      title="Publish event"
      submit="Publish"
      onClose={onClose}
      task={publish}
      disabled={form.isWrong}
      form={form}
    />
  );
}
