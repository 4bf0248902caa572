import { Radio, Search, Send } from "lucide-react";
import { useEffect, useState } from "react";
import { Link, useNavigate } from "react-router";
import type { EventsListResult } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useLive } from "../../data/live.ts";
import { useAddress } from "../../data/use-address.ts";
import { usePages } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { CheckField, SelectField, TextField } from "../../ui/field.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Publish } from "./publish.tsx";
import { EventState } from "./state.tsx";
import "./events.css";

const NAMES = ["type", "source", "subject", "id"] as const;
type Listed = EventsListResult["events"][number];
type Filters = Record<(typeof NAMES)[number] | "within", string> & { unmatched: boolean };

const COLUMNS: Column<Listed>[] = [
  {
    name: "Type",
    cell: ({ event_id, payload }) => (
      <Link to={`/events/${event_id}`} className="break">
        {payload.type}
      </Link>
    ),
  },
  {
    name: "Subject",
    wideOnly: true,
    cell: ({ payload }) => <span className="muted break">{payload.subject ?? "–"}</span>,
  },
  {
    name: "Source",
    wideOnly: true,
    cell: ({ payload }) => <span className="muted break">{payload.source}</span>,
  },
  { name: "Status", cell: (event) => <EventState state={event.state} matched={event.matched_count} /> },
  { name: "Accepted", end: true, cell: (event) => <Time at={event.accepted_at} /> },
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
  );
  const searching = NAMES.some((name) => filters[name]) || filters.unmatched || filters.within !== "";
  const publish = () => set({ publish: "1" });
  return (
    <Page
      title="Events"
      lead={
        user.role === "admin"
          ? "Published events, latest first, with their status."
          : "Events that you published, latest first, with their status. Admins see all events."
      }
      actions={
        <Button kind="primary" icon={Send} onClick={publish}>
          Publish event
        </Button>
      }
    >
      <SearchForm
        filters={filters}
        search={(wanted) => set({ ...wanted, unmatched: wanted.unmatched ? "1" : null })}
      />
      {!searching && <News first={list.items?.[0]?.accepted_at} reload={list.reload} />}
      <List
        pages={list}
        label="Events"
        keyOf={(event) => event.event_id}
        linkOf={(event) => `/events/${event.event_id}`}
        columns={COLUMNS}
        empty={searching ? <NoMatch /> : <NoEvents publish={publish} />}
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

function NoMatch() {
  const navigate = useNavigate();
  const clear = <Button onClick={() => navigate("/events")}>Clear search</Button>;
  return (
    <Empty icon={Search} title="No matching events" action={clear}>
      Types are globs: <code>com.github.*</code> matches every type with that prefix.
    </Empty>
  );
}

function NoEvents({ publish }: { publish(): void }) {
  const { may } = useSession();
  const first = (
    <Button icon={Send} onClick={publish}>
      Publish event
    </Button>
  );
  return (
    <Empty icon={Radio} title="No events yet" action={first}>
      Events come from agents, from webhooks and brokers
      {may("ingest.listWebhooks") && (
        <>
          {" "}
          connected under <Link to="/ingest">Ingest</Link>
        </>
      )}
      , or from here.
    </Empty>
  );
}

function filtersIn(search: URLSearchParams): Filters {
  const [type = "", source = "", subject = "", id = ""] = NAMES.map((name) => search.get(name) ?? "");
  const within = search.get("within") ?? "";
  return { type, source, subject, id, within, unmatched: search.get("unmatched") === "1" };
}

const HOUR_MS = 3_600_000;
const WITHIN = [
  { value: "", label: "Any time" },
  { value: "1", label: "Last hour" },
  { value: "24", label: "Last day" },
  { value: "168", label: "Last 7 days" },
];

function paramsOf({ unmatched, within, ...texts }: Filters) {
  const given = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== ""));
  const since = Number(within) > 0 && new Date(Date.now() - Number(within) * HOUR_MS).toISOString();
  return { ...given, ...(unmatched && { unmatched }), ...(since && { since }) };
}

function SearchForm({ filters, search }: { filters: Filters; search(filters: Filters): void }) {
  const [draft, setDraft] = useState(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed stays until something else is searched for
  useEffect(() => setDraft(filters), [JSON.stringify(filters)]);
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
        onChange={(within) => search({ ...draft, within })}
      />
      <div className="filter-end">
        <CheckField
          label="Unmatched only"
          checked={draft.unmatched}
          onChange={(unmatched) => search({ ...draft, unmatched })}
        />
        <Button type="submit" icon={Search}>
          Search
        </Button>
      </div>
    </form>
  );
}

/** Announces newer events without moving the list under the pointer. */
function News({ first, reload }: { first: string | undefined; reload(): Promise<void> }) {
  const newest = useLive().stats?.recent[0]?.accepted_at;
  // The statistics may be older than the list.
  if (!newest || !first || newest <= first) return null;
  return (
    <div>
      <Button small onClick={() => reload()}>
        Show newer events
      </Button>
    </div>
  );
}
