import type { ScheduleStatus } from "./schedules.contract.ts";
import type { ScheduleDoc } from "./schedules.model.ts";
import { givenEvent } from "./tick-event.ts";

/** Formats a schedule for callers. */
export function present(row: ScheduleDoc) {
  return {
    id: row._id,
    name: row.name,
    owner_id: row.owner_id,
    status: scheduleStatus(row),
    event: givenEvent(row),
    cron: row.cron,
    time_zone: row.time_zone,
    at: formatTime(row.at),
    on_missed: row.on_missed,
    paused: row.paused,
    next_run_at: formatTime(row.next_at),
    last_run_at: formatTime(row.last_run_at),
    last_event_id: row.last_event_id,
    last_missed_at: formatTime(row.last_missed_at),
    last_error: row.last_error,
    last_error_at: formatTime(row.last_error_at),
    run_count: row.run_count,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** Formats a schedule for a list: without the data of its event. */
export function presentBriefly(row: ScheduleDoc) {
  const schedule = present(row);
  const { data: _, data_base64: __, ...event } = schedule.event;
  return { ...schedule, event };
}

function scheduleStatus({ paused, next_at }: ScheduleDoc): ScheduleStatus {
  if (paused) return "paused";
  return next_at ? "active" : "ended";
}

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}
