import { Link, useNavigate, useParams, useSearchParams } from "react-router";
import type { Schedule } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { number } from "../../data/format.ts";
import { useList, useRead } from "../../data/queries.ts";
import { useSession } from "../../data/session.ts";
import { DialogButton } from "../../ui/button.tsx";
import { ActButton, DeleteButton } from "../../ui/form-dialog.tsx";
import { CalendarClock, CircleAlert, Pause, Pencil, Play, Send } from "../../ui/icons.tsx";
import { DetailPage, ListPage } from "../../ui/list-page.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { type Column, column, endColumn, RowLink, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { Id, Json, Time, Who } from "../../ui/text.tsx";
import { NextTicks, POLICIES, ScheduleForm, ScheduleState, When } from "./schedule-form.tsx";

const COLUMNS: Column<Schedule>[] = [
  column("Name", ({ id, name }) => <RowLink to={`/schedules/${id}`}>{name}</RowLink>),
  wideColumn("Event type", ({ event }) => <span className="muted break">{event.type}</span>),
  column("When", (schedule) => <When schedule={schedule} />),
  column("Status", (schedule) => <ScheduleState schedule={schedule} />),
  wideEndColumn("Events", ({ run_count }) => number(run_count)),
  wideEndColumn("Last", ({ last_run_at }) => <Time at={last_run_at} />),
  endColumn("Next", ({ next_run_at }) => <Time at={next_run_at} />),
];

/** The schedules of the organisation, or a member's own. */
export function Schedules() {
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
      dialog={(onClose) => <ScheduleForm onClose={onClose} />}
      searched
      pages={useList(api.schedules.list, q ? { search: q } : {}, "schedules", "schedule")}
      columns={COLUMNS}
      icon={CalendarClock}
      none="Create a schedule to publish an event every weekday at nine, or once on a date."
    />
  );
}

export function SchedulePage() {
  const { id = "" } = useParams();
  const schedule = useRead(api.schedules.get, { schedule_id: id }, "schedule");
  return (
    <DetailPage
      of={schedule}
      kind="Schedule"
      above={{ "/schedules": "Schedules" }}
      titleOf={({ name }) => name}
      stateOf={(data) => <ScheduleState schedule={data} />}
      actionsOf={(data) => <Actions schedule={data} />}
      lines={6}
    >
      {(data) => <Content schedule={data} />}
    </DetailPage>
  );
}

function Content({ schedule }: { schedule: Schedule }) {
  const { id, event, cron, time_zone, on_missed, status, last_error, last_error_at } = schedule;
  const { next_run_at, last_run_at, last_event_id, last_missed_at } = schedule;
  return (
    <div className="stack loose">
      {last_error && (
        <p className="notice bad">
          <CircleAlert aria-hidden size={16} />
          <span>
            {last_error} {last_error_at && <Time at={last_error_at} />}
          </span>
        </p>
      )}
      <FactsCard
        of={{
          When: <When schedule={schedule} />,
          "Cron expression": cron && <code>{cron}</code>,
          Next: next_run_at && <Time at={next_run_at} />,
          Last: last_run_at && (
            <>
              <Time at={last_run_at} />
              {last_event_id && (
                <>
                  {" · "}
                  <Link to={`/events/${last_event_id}`}>event</Link>
                </>
              )}
            </>
          ),
          "Events published": number(schedule.run_count),
          "Missed times": POLICIES.find(({ value }) => value === on_missed)?.label,
          "Last missed": last_missed_at && <Time at={last_missed_at} />,
          "Published as": <Who id={schedule.owner_id} />,
          "Schedule ID": <Id>{id}</Id>,
        }}
      />
      <div className="sides">
        <Card title="Next times">
          {status === "active" && cron !== null ? (
            <NextTicks when={{ cron, time_zone }} />
          ) : (
            <p className="muted">{NEXT[status]}</p>
          )}
        </Card>
        <Card title="Event">
          <Json value={event} label="event" />
        </Card>
      </div>
    </div>
  );
}

const NEXT: Record<Schedule["status"], string> = {
  active: "Once, at the time above.",
  paused: "None while the schedule is paused.",
  ended: "None: its last time is over. It is deleted 30 days later.",
};

function Actions({ schedule }: { schedule: Schedule }) {
  const { id: schedule_id, name, paused, status } = schedule;
  const navigate = useNavigate();
  return (
    <>
      <ActButton
        label="Publish now"
        icon={Send}
        act={async () => navigate(`/events/${(await api.schedules.run({ schedule_id })).event_id}`)}
        done="Published."
      />
      {status !== "ended" && (
        <ActButton
          label={paused ? "Resume" : "Pause"}
          icon={paused ? Play : Pause}
          act={() => api.schedules.update({ schedule_id, paused: !paused })}
          done={paused ? `${name} resumed.` : `${name} paused.`}
        />
      )}
      <DialogButton
        label="Edit"
        icon={Pencil}
        dialog={(onClose) => <ScheduleForm schedule={schedule} onClose={onClose} />}
      />
      <DeleteButton
        name={name}
        text="It publishes no more events. Those it has published are kept. This cannot be undone."
        action="Delete schedule"
        act={() => api.schedules.delete({ schedule_id })}
        to="/schedules"
      />
    </>
  );
}
