import type { RunAction, RunWithAttempts } from "../../../../client/index.ts";

/** A time in which somebody worked on a step, or in which it was ready and nobody did. Times in milliseconds. */
export interface Span {
  kind: "held" | "waited";
  from: number;
  /** Null while it lasts. */
  to: number | null;
  actor?: Pick<RunAction, "actor_kind" | "actor_id" | "event">;
  outcome?: RunWithAttempts["steps"][number]["attempts"][number]["outcome"];
  /** From 1. */
  attempt?: number;
}

export interface RunTimes {
  from: number;
  /** Null while the run lasts. */
  to: number | null;
  /** By step key, in order. */
  spans: Map<string, Span[]>;
}

type TimedRun = Pick<RunWithAttempts, "created_at" | "closed_at" | "status"> & {
  steps: Pick<RunWithAttempts["steps"][number], "step_key" | "depends_on" | "attempts">[];
};
type TimedAction = Pick<RunAction, "kind" | "step_key" | "at" | "actor_kind" | "actor_id" | "event">;

/** Returns when each step of a run waited, and who held it. @param actions in the order they happened */
export function timesOf(run: TimedRun, actions: readonly TimedAction[]): RunTimes {
  const from = Date.parse(run.created_at);
  const last = Date.parse(actions.at(-1)?.at ?? run.created_at);
  const to = run.closed_at ? Date.parse(run.closed_at) : run.status === "active" ? null : last;
  const spans = new Map(run.steps.map(({ step_key, attempts }) => [step_key, attempts.map(heldIn)]));
  const waits = waitsOf(run, actions, to);
  for (const { step_key } of run.steps) {
    const own = spans.get(step_key) as Span[];
    own.push(...doneAtOnce(own, step_key, actions), ...(waits.get(step_key) ?? []));
    own.sort((a, b) => a.from - b.from || Number(a.kind === "held") - Number(b.kind === "held"));
  }
  return { from, to, spans };
}

function heldIn(
  attempt: TimedRun["steps"][number]["attempts"][number],
  at: number,
  { length }: object[],
): Span {
  const { started_at, ended_at, actor_kind, actor_id, outcome } = attempt;
  return {
    ...{ kind: "held", from: Date.parse(started_at), to: ended_at === null ? null : Date.parse(ended_at) },
    ...{ actor: { actor_kind, actor_id, event: null }, outcome },
    ...(length > 1 && { attempt: at + 1 }),
  };
}

const DONE: Partial<Record<RunAction["kind"], "completed" | "skipped">> = {
  step_completed: "completed",
  step_skipped: "skipped",
};

/** Completions and skips of a step that nobody had started, such as by the event that it waits for. */
function doneAtOnce(held: readonly Span[], step_key: string, actions: readonly TimedAction[]): Span[] {
  return actions.flatMap((action): Span[] => {
    const outcome = DONE[action.kind];
    const at = Date.parse(action.at);
    if (!outcome || action.step_key !== step_key || held.some(({ to }) => to === at)) return [];
    return [{ kind: "held", from: at, to: at, actor: action, outcome }];
  });
}

/** Repeats what happened: a step waits from when its dependencies are done until it is worked on or done. */
function waitsOf(run: TimedRun, actions: readonly TimedAction[], runEnd: number | null): Map<string, Span[]> {
  const waits = new Map<string, Span[]>();
  const since = new Map<string, number>();
  const begun = new Set<string>();
  const done = new Set<string>();
  const end = (key: string, to: number | null) => {
    const from = since.get(key);
    if (from === undefined || !since.delete(key) || from === to) return;
    waits.set(key, [...(waits.get(key) ?? []), { kind: "waited", from, to }]);
  };
  const settle = (at: number) => {
    for (const { step_key: key, depends_on } of run.steps) {
      const isReady = !done.has(key) && !begun.has(key) && depends_on.every((each) => done.has(each));
      if (!isReady) end(key, at);
      else if (!since.has(key)) since.set(key, at);
    }
  };
  settle(Date.parse(run.created_at));
  for (const { kind, step_key: key, at } of actions) {
    if (key === null) continue;
    if (kind === "step_started" || kind === "criterion_attested") begun.add(key);
    if (DONE[kind]) done.add(key);
    if (kind === "step_reopened") {
      done.delete(key);
      begun.delete(key);
    }
    settle(Date.parse(at));
  }
  for (const key of [...since.keys()]) end(key, runEnd);
  return waits;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364].map((each) => each * DAY),
];

/**
 * Returns at most `most` round times between two, and the step between them.
 *
 * @param offset what local time is behind UTC, in milliseconds
 */
export function ticksOf(from: number, to: number, most: number, offset: number) {
  const step = STEPS.find((each) => (to - from) / each <= most) ?? (STEPS.at(-1) as number);
  const first = Math.ceil((from - offset) / step) * step + offset;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return { step, times: Array.from({ length: count }, (_, at) => first + at * step) };
}
