import { useState } from "react";
import { useNavigate } from "react-router";
import type { Schedule, SchedulesTestParams } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, filled, fullTime, relative } from "../../data/format.ts";
import { pause, useFollowed } from "../../data/queries.ts";
import { messageOf } from "../../ui/failure.tsx";
import type { Option } from "../../ui/field.tsx";
import { json, segments, select, text, time, useForm } from "../../ui/form.tsx";
import { FormDialog, type SavingProps, saveChanges } from "../../ui/form-dialog.tsx";
import { toast, useFormTask } from "../../ui/task.tsx";
import { Badge, type Tone } from "../../ui/text.tsx";
import "./schedules.css";

const REPEAT = [
  { value: "cron", label: "Repeatedly" },
  { value: "at", label: "Once" },
] as const;

const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];
const HOUR_MS = 3_600_000;

const optionsNamed = (names: string[]) => names.map((value) => ({ value, label: value }));

export const POLICIES: Option<Schedule["on_missed"]>[] = [
  { value: "run_once", label: "Publish the latest, late" },
  { value: "run_all", label: "Publish all, at most 100" },
  { value: "skip", label: "Skip them" },
];

const FIELDS = {
  name: text("Name", { required: true, maxLength: 200, placeholder: "Weekly report" }),
  repeat: segments("How often", REPEAT),
  cron: text("Cron expression", {
    required: true,
    className: "mono",
    hint: "Minute, hour, day of month, month, day of week.",
  }),
  time_zone: select("Time zone", optionsNamed(ZONES), { hint: "Daylight saving is followed." }),
  at: time("Time", { required: true, hint: `In your time zone, ${HERE}.` }),
  type: text("Event type", {
    required: true,
    placeholder: "com.example.report.due",
    hint: "Reverse DNS. Interests match it.",
  }),
  subject: text("Subject", { placeholder: "report/weekly" }),
  data: json("Data (JSON)", { rows: 4 }),
  source: text("Source", { hint: "Empty: the schedule." }),
  on_missed: select("Missed times", POLICIES, { hint: "More than a minute late, such as after an outage." }),
};

function knownOf(schedule: Schedule | undefined) {
  const inAnHour = new Date(Date.now() + HOUR_MS).toISOString();
  if (!schedule) return { cron: "0 9 * * MON-FRI", time_zone: HERE, at: inAnHour };
  const { at, time_zone, event } = schedule;
  const repeat: "cron" | "at" = schedule.cron === null ? "at" : "cron";
  return { ...event, ...schedule, repeat, at: at ?? inAnHour, time_zone: time_zone ?? HERE };
}

/** Edits a schedule, or creates one. */
export function ScheduleForm({ schedule, onClose }: SavingProps & { schedule?: Schedule }) {
  const navigate = useNavigate();
  const [before] = useState(schedule);
  const form = useForm<typeof FIELDS>(FIELDS, knownOf(schedule));
  const { name, repeat, cron, time_zone, at, on_missed, ...given } = form.values();
  const isRepeated = repeat === "cron";
  const when = isRepeated ? { cron, time_zone, at: null } : { cron: null, at };
  const isGiven = isRepeated ? cron : at;
  const save = useFormTask(async () => {
    const { subject: _, source: __, data: ___, ...others } = before?.event ?? { type: given.type };
    const { data, ...attributes } = given;
    const event = { ...others, ...filled(attributes), ...(data !== undefined && { data }) };
    const wanted = { name, event, ...when, on_missed };
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
    if (before) onClose();
    else navigate(`/schedules/${saved.id}`, { replace: true });
  });
  return (
    <FormDialog
      wide
      title={schedule ? "Edit schedule" : "New schedule"}
      submit={schedule ? "Save" : "Create schedule"}
      onClose={onClose}
      task={save}
      disabled={form.isWrong}
    >
      {form.rows("name", "repeat")}
      {isRepeated ? (
        <div className="grid-2">
          {form.show("cron")}
          {form.show("time_zone", {
            options: optionsNamed(ZONES.concat(ZONES.includes(time_zone) ? [] : time_zone)),
          })}
        </div>
      ) : (
        form.show("at")
      )}
      <NextTicks when={isGiven ? filled(when) : null} says={isRepeated} />
      {form.grid("type", "subject")}
      {form.show("data")}
      <details className="more-fields">
        <summary>Source, missed times</summary>
        {form.grid("source", "on_missed")}
      </details>
    </FormDialog>
  );
}

/** Wait for a pause in typing. */
const PAUSE_MS = 250;

/** The next times of what is being typed, with `says` also in words, or what is wrong with it. Nothing is saved. */
export function NextTicks({ when, says }: { when: SchedulesTestParams | null; says?: boolean }) {
  const { data, error } = useFollowed(
    [],
    async (signal) => {
      if (!when) return null;
      await pause(PAUSE_MS, signal);
      return api.schedules.test(when, { signal });
    },
    [JSON.stringify(when)],
    { keeps: true },
  );
  return (
    <div role="status" className="next-ticks">
      {error !== undefined && <p className="field-error">{messageOf(error)}</p>}
      {data && says && <p className="ticks-in-words">{capitalised(data.when)}</p>}
      {data && data.next.length > 0 && <Ticks ticks={data.next} time_zone={when?.time_zone} />}
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

const TONES: Record<Schedule["status"], Tone> = { active: "good", paused: "neutral", ended: "neutral" };

export function ScheduleState({ schedule: { status, last_error } }: { schedule: Schedule }) {
  if (status === "active" && last_error) {
    return <Badge label="Failing" tone="warn" dot />;
  }
  return <Badge label={capitalised(status)} tone={TONES[status]} dot />;
}

const ONCE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

/** When a schedule publishes: in words, with its cron expression on hover, or its only time. */
export function When({ schedule: { cron, when, at } }: { schedule: Schedule }) {
  if (cron === null) return at ? <span title={fullTime(at)}>Once, {ONCE.format(new Date(at))}</span> : "–";
  return <span title={cron}>{capitalised(when)}</span>;
}
