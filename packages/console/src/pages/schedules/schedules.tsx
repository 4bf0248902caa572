import { Link, useNavigate } from "react-router";
import type { Schedule } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useAddress } from "../../data/use-address.ts";
import { useList } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { Button } from "../../ui/button.tsx";
import { CalendarClock, Plus } from "../../ui/icons.tsx";
import { Empty, Page } from "../../ui/page.tsx";
import { ListSearch } from "../../ui/search.tsx";
import { type Column, List } from "../../ui/table.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { MaybeTime, ScheduleState, When } from "./words.tsx";

const COLUMNS: Column<Schedule>[] = [
  { name: "Name", cell: ({ id, name }) => <Link to={`/schedules/${id}`}>{name}</Link> },
  {
    name: "Event type",
    wideOnly: true,
    cell: ({ event }) => <span className="muted break">{event.type}</span>,
  },
  { name: "When", cell: (schedule) => <When schedule={schedule} /> },
  { name: "Status", cell: (schedule) => <ScheduleState schedule={schedule} /> },
  { name: "Events", end: true, wideOnly: true, cell: ({ run_count }) => number(run_count) },
  { name: "Last", end: true, wideOnly: true, cell: ({ last_run_at }) => <MaybeTime at={last_run_at} /> },
  { name: "Next", end: true, cell: ({ next_run_at }) => <MaybeTime at={next_run_at} /> },
];

/** The schedules of the organisation, or a member's own. */
export function Schedules() {
  const [search, change] = useAddress();
  const navigate = useNavigate();
  const { user } = useSession();
  const q = search.get("q") ?? "";
  const pages = useList(api.schedules.list, q ? { search: q } : {}, "schedules", "schedule");
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => change({ create: "1" })}>
      Create schedule
    </Button>
  );
  return (
    <Page
      title="Schedules"
      lead={
        user.role === "admin"
          ? "Events that are published repeatedly, or once at a time."
          : "Events that you publish repeatedly, or once at a time. Admins see all schedules."
      }
      actions={create}
    >
      <div className="list-bar">
        <ListSearch label="Search schedules" />
      </div>
      <List
        pages={pages}
        label="Schedules"
        linkOf={({ id }) => `/schedules/${id}`}
        columns={COLUMNS}
        empty={
          <Empty
            icon={CalendarClock}
            title={q ? `No schedules match “${q}”` : "No schedules yet"}
            action={q ? <Button onClick={() => change({ q: null })}>Show all</Button> : create}
          >
            {!q && "Create a schedule to publish an event every weekday at nine, or once on a date."}
          </Empty>
        }
      />
      {search.get("create") && (
        <ScheduleForm
          onClose={() => change({ create: null })}
          onSaved={({ id }) => navigate(`/schedules/${id}`)}
        />
      )}
    </Page>
  );
}
