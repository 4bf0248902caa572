import type { Schedule } from "../../../../client/index.ts";
import { fullTime } from "../../data/format.ts";
import { capitalised } from "../../data/text.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import type { Option } from "../../ui/field.tsx";
import { Time } from "../../ui/text.tsx";

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
