import { type Command, type Context, count, optionalChoice, text, word } from "./command.ts";
import { readContent } from "./input.ts";
import { LIMIT } from "./paged.ts";
import { age } from "./table.ts";
import { UsageError } from "./usage.ts";

const OUTCOMES = ["achieved", "partially_achieved", "abandoned"] as const;
const STATES = ["active", "completed", "closed"] as const;

export const RUN: Record<string, Command> = {
  "run list": {
    takes: "",
    does: "Lists runs, latest first.",
    options: {
      status: { value: STATES.join("|"), means: "only runs with this status" },
      project: { value: "KEY", means: "only runs of this project" },
      ...LIMIT,
    },
    run: list,
  },
  "run create": {
    takes: "GOAL",
    does: "Creates a run from a template.",
    options: {
      template: { value: "SLUG", means: "the template of the run; required" },
      value: {
        value: "NAME=VALUE",
        repeated: true,
        means:
          "a value that filters of its steps read as run.values.NAME; a JSON number, true, false, or else text",
      },
    },
    examples: ["run create 'Postmortem of the parcel outage' --template postmortem"],
    run: create,
  },
  "run show": { takes: "RUN", does: "Shows where a run stands, as Markdown.", run: show },
  "run start": {
    takes: "RUN STEP",
    does: "Starts a step.",
    options: { note: { value: "TEXT", means: "context, kept with the step" } },
    run: start,
  },
  "run complete": {
    takes: "RUN STEP",
    does: "Completes a step, or attests one of its criteria.",
    options: {
      criterion: { value: "KEY", means: "attest this criterion; the last one completes the step" },
      note: { value: "TEXT", means: "what makes it done" },
    },
    run: complete,
  },
  "run skip": {
    takes: "RUN STEP",
    does: "Skips a step that is not needed.",
    options: { reason: { value: "TEXT", means: "shown in the run; required" } },
    examples: ["run skip run_… review --reason 'Nothing changed'"],
    run: (context) => setBack(context, "skipStep", "skipped"),
  },
  "run reopen": {
    takes: "RUN STEP",
    does: "Reopens a completed or skipped step.",
    options: { reason: { value: "TEXT", means: "shown in the run; required" } },
    run: (context) => setBack(context, "reopenStep", "reopened"),
  },
  "run close": {
    takes: "RUN",
    does: "Closes a run with its outcome.",
    options: {
      outcome: { value: OUTCOMES.join("|"), means: "how it ended" },
      note: { value: "TEXT", means: "the closing note" },
    },
    examples: ["run close run_… --outcome abandoned --note 'Not needed any more'"],
    run: close,
  },
};

async function list(context: Context): Promise<void> {
  const status = optionalChoice(context, "status", STATES);
  const project_id = text(context, "project");
  const limit = count(context, "limit", 50);
  const params = { limit, ...(status && { status }), ...(project_id && { project_id }) };
  const runs = await context.client.runs.list(params, { signal: context.signal });
  context.table(
    runs,
    runs,
    [
      ["ID", ({ id }) => id],
      ["STATUS", ({ status }) => status],
      ["UPDATED", ({ updated_at }) => age(updated_at)],
      ["GOAL", ({ goal }) => goal],
    ],
    "No runs.",
  );
}

async function setBack(context: Context, how: "skipStep" | "reopenStep", done: string): Promise<void> {
  const step = stepOf(context);
  const reason = text(context, "reason");
  if (!reason) throw new UsageError("--reason is missing: it is shown in the run.");
  const params = { ...step, reason: await readContent(context.host, reason) };
  const result = await context.client.runs[how](params, { signal: context.signal });
  context.print(result, `${step.step_key} ${done}.`);
}

async function close(context: Context): Promise<void> {
  const run_id = word(context, 0, "RUN");
  const outcome = optionalChoice(context, "outcome", OUTCOMES);
  if (!outcome) throw new UsageError(`--outcome is missing: ${OUTCOMES.join(", ")}.`);
  const note = text(context, "note");
  const params = { run_id, outcome, ...(note && { note: await readContent(context.host, note) }) };
  const result = await context.client.runs.close(params, { signal: context.signal });
  context.print(result, `${run_id} closed: ${outcome.replace("_", " ")}.`);
}

async function create(context: Context): Promise<void> {
  const goal = word(context, 0, "GOAL");
  const slug = text(context, "template");
  if (!slug) throw new UsageError("--template is missing: a run needs the slug of a template.");
  const values = readValues(context);
  const { signal } = context;
  const template = await context.client.templates.get({ slug }, { signal });
  const given = { goal, template_id: template.id, ...(values && { values }) };
  const run = await context.client.runs.create(given, { signal });
  context.print(run, run.id);
}

/** Returns the values of `--value`. @throws UsageError */
function readValues({ options }: Context): Record<string, string | number | boolean> | undefined {
  const given = options.value as string[] | undefined;
  const entries = given?.map((each) => {
    const [, name, text = ""] = /^([^=]+)=(.*)$/s.exec(each) ?? [];
    if (!name) throw new UsageError(`--value is "${each}": expected NAME=VALUE.`);
    return [name, scalarOf(text)] as const;
  });
  return entries && Object.fromEntries(entries);
}

/** Reads a number, a truth value or a quoted text as in JSON; anything else is a text. */
function scalarOf(text: string): string | number | boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
      ? value
      : text;
  } catch {
    return text;
  }
}

async function show(context: Context): Promise<void> {
  const run_id = word(context, 0, "RUN");
  if (context.options.json) {
    context.print(await context.client.runs.position({ run_id }, { signal: context.signal }), "");
  } else {
    const document = await context.client.runs.statusDocument({ run_id }, { signal: context.signal });
    context.print(undefined, document.trimEnd());
  }
}

async function start(context: Context): Promise<void> {
  const step = stepOf(context);
  const notes = text(context, "note");
  const params = { ...step, ...(notes && { notes: await readContent(context.host, notes) }) };
  const attempt = await context.client.runs.startStep(params, { signal: context.signal });
  context.print(attempt, [`${step.step_key} started.`, attempt.warning].filter(Boolean).join(" "));
}

async function complete(context: Context): Promise<void> {
  const step = stepOf(context);
  const criterion_key = text(context, "criterion");
  const note = text(context, "note");
  const params = {
    ...step,
    ...(criterion_key && { criterion_key }),
    ...(note && { what_makes_this_done: await readContent(context.host, note) }),
  };
  const result = await context.client.runs.completeStep(params, { signal: context.signal });
  const { completed_step_key, newly_ready_steps, run_completed } = result;
  const ready = newly_ready_steps.map(({ step_key }) => step_key).join(", ");
  const said = [
    completed_step_key ? `${completed_step_key} completed.` : `${criterion_key} attested.`,
    ready && `Now ready: ${ready}.`,
    run_completed && "Run completed.",
  ];
  context.print(result, said.filter(Boolean).join(" "));
}

function stepOf(context: Context): { run_id: string; step_key: string } {
  return { run_id: word(context, 0, "RUN"), step_key: word(context, 1, "STEP") };
}
