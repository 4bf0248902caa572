import { useState } from "react";
import type { Schedule, SchedulesCreateParams, SchedulesTestParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, fullTime, localTime, mistakeInJson, relative, timeOf } from "../../data/format.ts";
import { pause, useFollowed } from "../../data/use-load.ts";
import { messageOf } from "../../ui/failure.tsx";
import {
  CodeArea,
  type FieldOf,
  type Option,
  Segments,
  SelectField,
  TextField,
  useDraft,
} from "../../ui/field.tsx";
import { FormDialog, saveChanges } from "../../ui/form-dialog.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Badge, Time, type Tone } from "../../ui/text.tsx";
import "./schedules.css";

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

/** Wait for a pause in typing. */
const PAUSE_MS = 250;

/** The next times of what is being typed, or what is wrong with it. Nothing is saved. */
export function NextTicks({ when }: { when: SchedulesTestParams | null }) {
  const { data: next = [], error } = useFollowed(
    [],
    async (signal) => {
      if (!when) return [];
      await pause(PAUSE_MS, signal);
      return (await api.schedules.test(when, { signal })).next;
    },
    [JSON.stringify(when)],
    { keeps: true },
  );
  return (
    <div role="status" className="next-ticks">
      {error !== undefined && <p className="field-error">{messageOf(error)}</p>}
      {next.length > 0 && <Ticks ticks={next} time_zone={when?.time_zone} />}
    </div>
  );
}

/** Times in the time zone of a schedule, or of the browser. */
function Ticks({ ticks, time_zone }: { ticks: readonly string[]; time_zone?: string | undefined }) {
  const format = new Intl.DateTimeFormat("en", {
    ...{ weekday: "short", day: "numeric", month: "short", year: "numeric" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
    ...(time_zone && { timeZone: time_zone }),
  });
  return (
    <ol className="ticks" aria-label="Next times">
      {ticks.map((tick) => (
        <li key={tick}>
          <time dateTime={tick} className="num">
            {format.format(new Date(tick))}
          </time>{" "}
          <span className="faint small">{relative(tick)}</span>
        </li>
      ))}
    </ol>
  );
}

export const POLICIES: Option<Schedule["on_missed"]>[] = [
  { value: "run_once", label: "Publish the latest, late" },
  { value: "run_all", label: "Publish all, at most 100" },
  { value: "skip", label: "Skip them" },
];

const TONES: Record<Schedule["status"], Tone> = { active: "good", paused: "neutral", ended: "neutral" };

export function ScheduleState({ schedule: { status, last_error } }: { schedule: Schedule }) {
  if (status === "active" && last_error) {
    return <Badge label="Failing" tone="warn" dot />;
  }
  return <Badge label={capitalised(status)} tone={TONES[status]} dot />;
}

const ONCE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

/** When a schedule publishes: its cron expression and time zone, or its only time. */
export function When({ schedule: { cron, time_zone, at } }: { schedule: Schedule }) {
  if (cron === null) return at ? <span title={fullTime(at)}>Once, {ONCE.format(new Date(at))}</span> : "–";
  return (
    <span>
      <code>{cron}</code> <span className="muted small">{time_zone}</span>
    </span>
  );
}

export function MaybeTime({ at }: { at: string | null }) {
  return at ? <Time at={at} /> : <span className="faint">–</span>;
}
