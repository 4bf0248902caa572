import { type Command, type Context, text, word } from "./command.ts";
import { contentOf } from "./input.ts";
import { UsageError } from "./usage.ts";

type Action = (context: Context) => Promise<void>;

const ACTIONS: Record<string, Action> = { list, create, show, start, complete };

export const run: Command = {
  takes: "list | create GOAL | show RUN | start RUN STEP | complete RUN STEP",
  does: "Lists runs, creates one from a template, shows its status, and starts or completes its steps.",
  options: {
    template: { value: "SLUG", means: "create: the template of the run; required" },
    criterion: { value: "KEY", means: "complete: attest this criterion; the last one completes the step" },
    note: { value: "TEXT", means: "start: context; complete: evidence" },
  },
  async run(context) {
    const name = context.words.shift() ?? "list";
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action) throw new UsageError(`run ${name}: expected ${Object.keys(ACTIONS).join(", ")}.`);
    await action(context);
  },
};

async function list(context: Context): Promise<void> {
  const runs = await context.client.runs.list({}, { signal: context.signal });
  const lines = runs.map(({ id, status, goal }) => `${id}  ${status.padEnd(9)}  ${goal.split("\n")[0]}`);
  context.print(runs, lines.length ? lines.join("\n") : "No runs.");
}

async function create(context: Context): Promise<void> {
  const goal = word(context, 0, "GOAL");
  const slug = text(context, "template");
  if (!slug) throw new UsageError("--template is missing: a run needs the slug of a template.");
  const { signal } = context;
  const template = await context.client.templates.get({ slug }, { signal });
  const run = await context.client.runs.create({ goal, template_id: template.id }, { signal });
  context.print(run, run.id);
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
  const params = { ...step, ...(notes && { notes: await contentOf(notes) }) };
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
    ...(note && { what_makes_this_done: await contentOf(note) }),
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
