import { expect, test } from "@jest/globals";
import { ticksOf, timesOf } from "../../packages/console/src/pages/runs/spans.ts";

const time = (minute: number) => new Date(Date.UTC(2026, 0, 1, 9, minute)).toISOString();
const minute = (at: number | null) => (at === null ? null : (at - Date.UTC(2026, 0, 1, 9)) / 60_000);

type Attempt = Parameters<typeof timesOf>[0]["steps"][number]["attempts"][number];
const attempt = (from: number, to: number | null, outcome: Attempt["outcome"]) =>
  ({
    ...{ actor_kind: "agent", actor_id: "ag_1", started_at: time(from) },
    ...{ ended_at: to === null ? null : time(to), outcome },
  }) as Attempt;

test("a run's times: waits, who held a step, retries, and what was done at once", () => {
  const steps = [
    { step_key: "a", depends_on: [], attempts: [attempt(2, 5, "completed"), attempt(9, 10, "completed")] },
    { step_key: "b", depends_on: ["a"], attempts: [] },
    { step_key: "c", depends_on: ["b"], attempts: [attempt(20, null, null)] },
  ];
  const did = (kind: string, step_key: string | null, at: number, actor_kind = "agent") =>
    ({ kind, step_key, at: time(at), actor_kind, actor_id: "x", event: null }) as Parameters<
      typeof timesOf
    >[1][number];
  const actions = [
    ...[did("created", null, 0), did("step_started", "a", 2), did("step_completed", "a", 5)],
    // `b`, which was ready, is blocked again.
    did("step_reopened", "a", 7),
    did("step_started", "a", 9),
    did("step_completed", "a", 10),
    did("step_completed", "b", 15, "event"),
    did("step_started", "c", 20),
  ];
  const run = { created_at: time(0), closed_at: null, status: "active" as const, steps };
  const { from, to, spans } = timesOf(run, actions);
  expect([minute(from), to]).toEqual([0, null]);
  const shown = Object.fromEntries(
    [...spans].map(([key, own]) => [
      key,
      own.map((span) => [span.kind, minute(span.from), minute(span.to), span.attempt ?? span.outcome]),
    ]),
  );
  expect(shown).toEqual({
    a: [
      ["waited", 0, 2, undefined],
      ["held", 2, 5, 1],
      ["waited", 7, 9, undefined],
      ["held", 9, 10, 2],
    ],
    b: [
      ["waited", 5, 7, undefined],
      ["waited", 10, 15, undefined],
      ["held", 15, 15, "completed"],
    ],
    c: [
      ["waited", 15, 20, undefined],
      ["held", 20, null, null],
    ],
  });

  const closed = timesOf({ ...run, closed_at: time(40), status: "closed", steps: steps.slice(0, 1) }, [
    ...actions.slice(0, 1),
    did("closed", null, 40),
  ]);
  expect([minute(closed.to), closed.spans.get("a")?.at(0)]).toMatchObject([40, { kind: "waited" }]);
});

test.each([
  [0, 10 * 60_000, 0, 120_000, [0, 2, 4, 6, 8, 10]],
  [90_000, 10 * 60_000, 0, 120_000, [2, 4, 6, 8, 10]],
  // In a zone half an hour before UTC.
  [0, 5 * 3_600_000, -30 * 60_000, 3_600_000, [30, 90, 150, 210, 270]],
])(
  "times of an axis are round ones of the zone: from %i to %i, offset %i",
  (from, to, offset, step, minutes) => {
    expect(ticksOf(from, to, 6, offset)).toEqual({ step, times: minutes.map((each) => each * 60_000) });
  },
);
