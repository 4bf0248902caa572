import { useLayoutEffect, useMemo, useRef, useState } from "react";
import type { RunAction, RunWithAttempts } from "../../../../client/index.ts";
import { duration, exactDuration, fullTime } from "../../data/format.ts";
import { useNames } from "../../data/names.ts";
import { useWidth } from "../../graph/canvas.tsx";
import { IconButton } from "../../ui/button.tsx";
import { type LucideIcon, Maximize, Minus, Plus } from "../../ui/icons.tsx";
import { Card } from "../../ui/page.tsx";
import { useNow } from "../../ui/text.tsx";
import { type RunTimes, type Span, ticksOf, timesOf } from "./spans.ts";
import type { Step } from "./words.tsx";
import "./time-axis.css";

interface Props {
  run: RunWithAttempts;
  actions: readonly RunAction[];
  selected: string | undefined;
  choose(key: string): void;
}

const MOST_ZOOM = 128;
/** Pixels between two ticks, at least. */
export const TICK_WIDTH = 76;

/** The steps of a run over time: how long each waited, who held it, and how often it was tried. */
export function TimeAxis({ run, actions, selected, choose }: Props) {
  const now = useNow();
  const [zoom, setZoom] = useState(1);
  const times = useMemo(() => timesOf(run, actions), [run, actions]);
  const spanned = Math.max(1, (times.to ?? now) - times.from);
  const spansOf = ({ step_key }: Step) => times.spans.get(step_key) ?? [];
  const lanes = useRef<HTMLElement>(null);
  const width = useWidth(lanes);
  const middle = useRef(0.5);
  // The time in the middle stays there.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another zoom moves it
  useLayoutEffect(() => {
    const { current } = lanes;
    if (current) current.scrollLeft = middle.current * current.scrollWidth - current.clientWidth / 2;
  }, [zoom]);
  const zoomTo = (to: number) => {
    const { current } = lanes;
    if (current) middle.current = (current.scrollLeft + current.clientWidth / 2) / current.scrollWidth;
    setZoom(to);
  };
  const zoomButton = (icon: LucideIcon, label: string, to: number, end: number) => (
    <IconButton icon={icon} label={label} disabled={zoom === end} onClick={() => zoomTo(to)} />
  );
  const describe = useDescribe(times, now);
  return (
    <Card
      title={`Time: ${exactDuration(spanned / 1000)}${times.to === null ? " so far" : ""}`}
      actions={
        <>
          {zoomButton(Minus, "Show more time", zoom / 2, 1)}
          {zoomButton(Plus, "Show less time", zoom * 2, MOST_ZOOM)}
          {zoomButton(Maximize, "Fit the whole run", 1, 1)}
        </>
      }
      flush
    >
      <div className="time-axis">
        <ol className="time-steps" aria-label="Steps over time">
          {run.steps.map((step) => (
            <li key={step.step_key}>
              <button
                type="button"
                aria-current={step.step_key === selected || undefined}
                title={step.title}
                onClick={() => choose(step.step_key)}
              >
                <span className="truncate">{step.title}</span>
              </button>
              <span className="visually-hidden">
                {spansOf(step)
                  .map((span) => describe(step, span).text)
                  .join("; ") || "Not ready yet"}
              </span>
            </li>
          ))}
        </ol>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must be able to */}
        <section ref={lanes} className="time-lanes" aria-label="Time axis" tabIndex={0}>
          <div className="time-width" style={{ width: `${zoom * 100}%` }} aria-hidden>
            {run.steps.map((step) => (
              <div
                key={step.step_key}
                className={step.step_key === selected ? "time-lane selected" : "time-lane"}
              >
                {spansOf(step).map((span) => (
                  <Bar
                    key={`${span.kind} ${span.from} ${span.attempt}`}
                    span={span}
                    start={times.from}
                    spanned={spanned}
                    now={times.to ?? now}
                    of={describe(step, span)}
                  />
                ))}
              </div>
            ))}
            <Ticks from={times.from} to={times.from + spanned} most={(width / TICK_WIDTH) * zoom} />
          </div>
        </section>
      </div>
    </Card>
  );
}

interface Described {
  who: string;
  /** In the order of a sentence, with exact times. */
  text: string;
}

/** Returns a function that says of a time of a step who held it, how it ended, how long it was, and when. */
function useDescribe({ spans, to: end }: RunTimes, now: number) {
  const ids = [...spans.values()].flat().flatMap(({ actor }) => (actor ? [actor.actor_id] : []));
  const nameOf = useNames([...new Set(ids)]);
  return (step: Step, { kind, from, to, actor, outcome, attempt }: Span): Described => {
    const waits = step.wait_for ? `Waited for ${step.wait_for.event_type}` : "Waited to be started";
    const who = kind === "waited" ? waits : whoOf(actor, nameOf);
    const last = to ?? end ?? now;
    const ended = to === null ? "so far" : (outcome ?? "");
    const words = [
      who,
      attempt && `attempt ${attempt}`,
      from < last && exactDuration((last - from) / 1000),
      ended,
    ];
    const until = from === last ? "" : ` – ${to === null ? "now" : fullTime(new Date(to))}`;
    return { who, text: `${words.filter(Boolean).join(", ")}\n${fullTime(new Date(from))}${until}` };
  };
}

function whoOf(actor: Span["actor"], nameOf: (id: string) => string): string {
  if (actor?.actor_kind === "deadline") return "Its deadline";
  return actor?.event?.type ?? nameOf(actor?.actor_id ?? "");
}

interface BarProps {
  span: Span;
  /** Beginning and length of the axis, and the end of what lasts, in milliseconds. */
  start: number;
  spanned: number;
  now: number;
  of: Described;
}

function Bar({ span, start, spanned, now, of: { who, text } }: BarProps) {
  const { from, to, kind, outcome } = span;
  const long = (to ?? now) - from;
  return (
    <span
      className={`time-bar ${kind} ${outcome ?? (to === null ? "open" : "")}`}
      style={{ left: `${((from - start) / spanned) * 100}%`, width: `${(long / spanned) * 100}%` }}
      title={text}
    >
      <span>
        {kind === "held" && `${who} · `}
        {duration(long / 1000)}
      </span>
    </span>
  );
}

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
const FORMATS: [below: number, format: Intl.DateTimeFormat][] = [
  [1000, new Intl.DateTimeFormat("en", { ...CLOCK, second: "2-digit", fractionalSecondDigits: 3 })],
  [60_000, new Intl.DateTimeFormat("en", { ...CLOCK, second: "2-digit" })],
  [86_400_000, new Intl.DateTimeFormat("en", CLOCK)],
  [Number.POSITIVE_INFINITY, new Intl.DateTimeFormat("en", { month: "short", day: "numeric" })],
];

/** The round times of an axis, in milliseconds. @param most so many at most */
export function Ticks({ from, to, most }: { from: number; to: number; most: number }) {
  const { step, times } = ticksOf(from, to, most, new Date(from).getTimezoneOffset() * 60_000);
  const [, format] = FORMATS.find(([below]) => step < below) as (typeof FORMATS)[number];
  return (
    <div className="time-ticks" aria-hidden>
      {times.map((time) => (
        <span
          key={time}
          style={{ left: `${((time - from) / (to - from)) * 100}%` }}
          title={fullTime(new Date(time))}
        >
          {format.format(time)}
        </span>
      ))}
    </div>
  );
}
