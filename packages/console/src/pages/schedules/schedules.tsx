import { Link, useNavigate, useSearchParams } from "react-router";
import type { Schedule } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { useSession } from "../../shell/session.tsx";
import { CalendarClock } from "../../ui/icons.tsx";
import { ListPage } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { ScheduleForm } from "./schedule-form.tsx";
import { MaybeTime, ScheduleState, When } from "./words.tsx";

const COLUMNS: Column<Schedule>[] = [
  column("Name", ({ id, name }) => <Link to={`/schedules/${id}`}>{name}</Link>),
  wideColumn("Event type", ({ event }) => <span className="muted break">{event.type}</span>),
  column("When", (schedule) => <When schedule={schedule} />),
  column("Status", (schedule) => <ScheduleState schedule={schedule} />),
  wideEndColumn("Events", ({ run_count }) => number(run_count)),
  wideEndColumn("Last", ({ last_run_at }) => <MaybeTime at={last_run_at} />),
  endColumn("Next", ({ next_run_at }) => <MaybeTime at={next_run_at} />),
];

/** The schedules of the organisation, or a member's own. */
export function Schedules() {
  const navigate = useNavigate();
  const { user } = useSession();
  const q = useSearchParams()[0].get("q");
  return (
    <ListPage
      title="Schedules"
      lead={
        user.role === "admin"
          ? "Events that are published repeatedly, or once at a time."
          : "Events that you publish repeatedly, or once at a time. Admins see all schedules."
      }
      create="Create schedule"
      dialog={(onClose) => (
        <ScheduleForm
          onClose={onClose}
          onSaved={({ id }) => navigate(`/schedules/${id}`, { replace: true })}
        />
      )}
      searched
      pages={useList(api.schedules.list, q ? { search: q } : {}, "schedules", "schedule")}
      linkOf={({ id }) => `/schedules/${id}`}
      columns={COLUMNS}
      icon={CalendarClock}
      none="Create a schedule to publish an event every weekday at nine, or once on a date."
    />
  );
}
