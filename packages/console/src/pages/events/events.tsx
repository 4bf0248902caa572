import { useEffect, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { EventsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { filled, mistakeInJson, timeOf } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, CodeArea, SelectField, TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Radio, Search, Send } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, column, endColumn, List, wideColumn } from "../../ui/table.tsx";
import { toast, toastWarnings, useFormTask } from "../../ui/task.tsx";
import { Subject, Time } from "../../ui/text.tsx";
import { EventState } from "./timeline.tsx";
import "./events.css";

const NAMES = ["type", "source", "subject", "id"] as const;
type Listed = EventsListResult["events"][number];
type Filters = Record<(typeof NAMES)[number] | "within", string> & {
  unmatched: boolean;
  waiting: boolean;
  /** With the service's own events. */
  service: boolean;
};

const COLUMNS: Column<Listed>[] = [
  column("Type", ({ event_id, payload }) => (
    <Link to={`/events/${event_id}`} className="break">
      {payload.type}
    </Link>
  )),
  wideColumn("Subject", ({ payload }) => (
    <span className="muted break">
      <Subject event={payload} />
    </span>
  )),
  wideColumn("Source", ({ payload }) => <span className="muted break">{payload.source}</span>),
  column("Status", (event) => <EventState state={event.state} matched={event.matched_count} />),
  endColumn("Accepted", (event) => <Time at={event.accepted_at} />),
];

/** All events, latest first; the filters are in the address. */
export function Events() {
  const [search, set] = useAddress();
  const navigate = useNavigate();
  const { user } = useSession();
  const filters = filtersIn(search);
  const list = usePages(
    async (cursor, signal) => {
      const page = { ...paramsOf(filters), limit: 50, ...(cursor && { cursor }) };
      const { events, next_cursor } = await api.events.list(page, { signal });
      return { items: events, next: next_cursor };
    },
    [JSON.stringify(filters)],
    "events",
    "event",
  );
  const searching =
    NAMES.some((name) => filters[name]) || filters.unmatched || filters.waiting || filters.within !== "";
  const publish = () => set({ publish: "1" });
  return (
    <Page
      title="Events"
      lead={
        user.role === "admin"
          ? "Published events, latest first, with their status."
          : "Events that you published, latest first, with their status. Admins see all events."
      }
      actions={<Button label="Publish event" kind="primary" icon={Send} onClick={publish} />}
    >
      <SearchForm
        filters={filters}
        search={({ unmatched, waiting, service, ...texts }) => {
          const checked = (is: boolean) => (is ? "1" : null);
          set({
            ...texts,
            unmatched: checked(unmatched),
            waiting: checked(waiting),
            service: checked(service),
          });
        }}
      />
      <List
        pages={list}
        label="Events"
        keyOf={(event) => event.event_id}
        linkOf={(event) => `/events/${event.event_id}`}
        columns={COLUMNS}
        empty={
          searching ? <NoMatch filters={filters} /> : <NoEvents publish={publish} service={filters.service} />
        }
      />
      {search.get("publish") && (
        <Publish
          onClose={() => set({ publish: null })}
          onPublished={(id, duplicate) => {
            toast({
              title: duplicate ? "An event with this ID exists. This is the original." : "Published.",
            });
            navigate(`/events/${id}`);
          }}
        />
      )}
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

function NoMatch({ filters }: { filters: Filters }) {
  const navigate = useNavigate();
  const clear = <Button label="Clear search" onClick={() => navigate("/events")} />;
  return (
    <Empty icon={Search} title="No matching events" action={clear}>
      <p>
        Types are globs: <code>com.github.*</code> matches every type with that prefix.
      </p>
      <HiddenNote shown={filters.service || OWN.test(filters.type)} />
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

function filtersIn(search: URLSearchParams): Filters {
  const [type = "", source = "", subject = "", id = ""] = NAMES.map((name) => search.get(name) ?? "");
  const within = search.get("within") ?? "";
  const isChecked = (name: string) => search.get(name) === "1";
  const [unmatched, waiting, service] = [isChecked("unmatched"), isChecked("waiting"), isChecked("service")];
  return { type, source, subject, id, within, unmatched, waiting, service };
}

const HOUR_MS = 3_600_000;
const WITHIN = [
  { value: "", label: "Any time" },
  { value: "1", label: "Last hour" },
  { value: "24", label: "Last day" },
  { value: "168", label: "Last 7 days" },
];

/** Types that are searched for are shown whether or not they are the service's own. */
const OWN = /^(service|memory)\./;

function paramsOf({ service, within, ...asked }: Filters) {
  const since = Number(within) > 0 && new Date(Date.now() - Number(within) * HOUR_MS).toISOString();
  return { ...filled({ ...asked, since }), include_service: service || OWN.test(asked.type) };
}

function SearchForm({ filters, search }: { filters: Filters; search(filters: Filters): void }) {
  const [draft, setDraft] = useState(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays until something else is searched for
  useEffect(() => setDraft(filters), [JSON.stringify(filters)]);
  // Shown at once: the address follows a little later.
  const choose = (change: Partial<Filters>) => {
    const wanted = { ...draft, ...change };
    setDraft(wanted);
    search(wanted);
  };
  const text = (name: (typeof NAMES)[number], label: string, placeholder: string) => (
    <TextField
      label={label}
      placeholder={placeholder}
      value={draft[name]}
      onChange={(value) => setDraft({ ...draft, [name]: value })}
    />
  );
  return (
    <form
      className="filters"
      aria-label="Search events"
      onSubmit={(event) => {
        event.preventDefault();
        search(draft);
      }}
    >
      {text("type", "Type", "com.github.*")}
      {text("source", "Source", "https://…")}
      {text("subject", "Subject", "acme/shop#12")}
      {text("id", "Producer's ID", "order-4711")}
      <SelectField
        label="Accepted"
        options={WITHIN}
        value={draft.within}
        onChange={(within) => choose({ within })}
      />
      <div className="filter-end">
        <CheckField
          label="Unmatched only"
          checked={draft.unmatched}
          onChange={(unmatched) => choose({ unmatched })}
        />
        <CheckField
          label="Waiting only"
          checked={draft.waiting}
          onChange={(waiting) => choose({ waiting })}
        />
        <CheckField
          label="Service events"
          checked={draft.service}
          onChange={(service) => choose({ service })}
        />
        <Button label="Search" type="submit" icon={Search} />
      </div>
    </form>
  );
}

/** Publishes an event manually, for testing. */
function Publish(props: { onClose(): void; onPublished(id: string, duplicate: boolean): void }) {
  const { onClose, onPublished } = props;
  const [{ type, source, subject, at, data }, field] = useDraft({
    type: "com.example.order.created",
    source: `${location.origin}/console`,
    subject: "",
    at: "",
    data: '{\n "total": 42\n}',
  });
  const problem = mistakeInJson(data);
  const publish = useFormTask(async () => {
    const event = {
      specversion: "1.0" as const,
      id: `console-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
      source,
      type,
      time: new Date().toISOString(),
      ...(subject && { subject }),
      ...(at && { notbefore: timeOf(at) }),
      ...(data.trim() && { datacontenttype: "application/json", data: JSON.parse(data) }),
    };
    const result = await api.events.publish({ event });
    toastWarnings(result);
    if ("event_id" in result) onPublished(result.event_id, result.status === "duplicate");
  });
  return (
    <FormDialog
      title="Publish event"
      submit="Publish"
      onClose={onClose}
      task={publish}
      disabled={problem !== undefined}
    >
      <TextField label="Type" required {...field("type")} hint="Reverse DNS. Interests match it." />
      <TextField label="Source" required {...field("source")} />
      <TextField label="Subject" {...field("subject")} placeholder="acme/shop#12" />
      <TextField
        label="Deliver at"
        type="datetime-local"
        {...field("at")}
        hint="Empty: at once. Until then the event waits, and can be cancelled."
      />
      <CodeArea label="Data (JSON)" rows={7} {...field("data")} error={problem} />
    </FormDialog>
  );
}
