import { useState } from "react";
import type { Schedule, SchedulesCreateParams, SchedulesTestParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { localTime, timeOf } from "../../data/local-time.ts";
import { mistakeInJson } from "../../data/text.ts";
import { type FieldOf, useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { CodeArea, Segments, SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { toast } from "../../ui/toast.tsx";
import { NextTicks } from "./next-ticks.tsx";
import { POLICIES } from "./words.tsx";

interface Props {
  /** The schedule to edit; without it, a new one is created. */
  schedule?: Schedule;
  onClose(): void;
  onSaved(schedule: Schedule): unknown;
}

const REPEAT = [
  { value: "cron", label: "Repeatedly" },
  { value: "at", label: "Once" },
] as const;

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
const HOUR_MS = 3_600_000;

/** Returns the values of the form. */
function draftOf(schedule: Schedule | undefined) {
  const { event } = schedule ?? {};
  return {
    name: schedule?.name ?? "",
    repeat: (schedule && schedule.cron === null ? "at" : "cron") as "cron" | "at",
    cron: schedule?.cron ?? "0 9 * * MON-FRI",
    time_zone: schedule?.time_zone ?? HERE,
    at: localTime(schedule?.at ?? new Date(Date.now() + HOUR_MS).toISOString()),
    type: event?.type ?? "",
    subject: event?.subject ?? "",
    source: event?.source ?? "",
    data: event?.data === undefined ? "" : JSON.stringify(event.data, null, 2),
    on_missed: schedule?.on_missed ?? ("run_once" as Schedule["on_missed"]),
  };
}

type Draft = ReturnType<typeof draftOf>;

/** Returns what the form asks for; attributes that it does not show are kept. */
function wantedOf(draft: Draft, before: Schedule | undefined): SchedulesCreateParams {
  const { name, type, subject, source, data, on_missed } = draft;
  const { subject: _, source: __, data: ___, ...others } = before?.event ?? { type };
  const event = {
    ...others,
    type,
    ...(source && { source }),
    ...(subject && { subject }),
    ...(data.trim() && { data: JSON.parse(data) }),
  };
  return { name, event, ...whenOf(draft, before), on_missed };
}

function whenOf({ repeat, cron, time_zone, at }: Draft, before: Schedule | undefined) {
  if (repeat === "cron") return { cron, time_zone, at: null };
  const unchanged = before?.at && localTime(before.at) === at;
  return { cron: null, at: unchanged ? before.at : timeOf(at) };
}

/** Returns what to test, once enough is given. */
function testedOf({ repeat, cron, time_zone, at }: Draft): SchedulesTestParams | null {
  if (repeat === "at") return at ? { at: timeOf(at) } : null;
  return cron.trim() && time_zone ? { cron, time_zone } : null;
}

export function ScheduleForm({ schedule, onClose, onSaved }: Props) {
  const [before] = useState(schedule);
  const [draft, field] = useDraft(() => draftOf(schedule));
  const problem = mistakeInJson(draft.data);
  const save = useFormTask(async () => {
    const wanted = wantedOf(draft, before);
    const saved = before
      ? await saveChanges(
          api.schedules,
          { schedule_id: before.id },
          before,
          wanted as Partial<Schedule>,
          `/schedules/${before.id}`,
        )
      : await api.schedules.create(wanted);
    if (!saved) return;
    toast({ title: before ? "Saved." : `${saved.name} created.` });
    await onSaved(saved);
  });
  return (
    <FormDialog
      wide
      title={schedule ? "Edit schedule" : "New schedule"}
      submit={schedule ? "Save" : "Create schedule"}
      onClose={onClose}
      task={save}
      disabled={problem !== undefined}
    >
      <TextField label="Name" required maxLength={200} {...field("name")} placeholder="Weekly report" />
      <WhenFields draft={draft} field={field} />
      <div className="grid-2">
        <TextField
          label="Event type"
          required
          {...field("type")}
          placeholder="com.example.report.due"
          hint="Reverse DNS. Interests match it."
        />
        <TextField label="Subject" {...field("subject")} placeholder="report/weekly" />
      </div>
      <CodeArea label="Data (JSON)" rows={4} {...field("data")} error={problem} />
      <details className="more-fields">
        <summary>Source, missed times</summary>
        <div className="grid-2">
          <TextField label="Source" {...field("source")} hint="Empty: the schedule." />
          <SelectField
            label="Missed times"
            options={POLICIES}
            {...field("on_missed")}
            hint="More than a minute late, such as after an outage."
          />
        </div>
      </details>
    </FormDialog>
  );
}

function WhenFields({ draft, field }: { draft: Draft; field: FieldOf<Draft> }) {
  return (
    <>
      <div>
        <Segments label="How often" options={REPEAT} {...field("repeat")} />
      </div>
      {draft.repeat === "cron" ? (
        <div className="grid-2">
          <TextField
            label="Cron expression"
            required
            className="mono"
            {...field("cron")}
            hint="Minute, hour, day of month, month, day of week."
          />
          <SelectField
            label="Time zone"
            options={ZONES.concat(ZONES.includes(draft.time_zone) ? [] : draft.time_zone).map((zone) => ({
              value: zone,
              label: zone,
            }))}
            {...field("time_zone")}
            hint="Daylight saving is followed."
          />
        </div>
      ) : (
        <TextField
          label="Time"
          type="datetime-local"
          step={1}
          required
          {...field("at")}
          hint={`In your time zone, ${HERE}.`}
        />
      )}
      <NextTicks when={testedOf(draft)} />
    </>
  );
}
