import { type Command, type Context, text, word } from "./command.ts";
import { contentOf } from "./input.ts";
import { UsageError } from "./usage.ts";

type Action = (context: Context) => Promise<void>;

const ACTIONS: Record<string, Action> = { list, begin, show, start, complete };

export const run: Command = {
  takes: "list | begin GOAL | show RUN | start RUN STEP | complete RUN STEP",
  does: "Lists runs, begins one from a template, shows how it stands, and starts or completes its steps.",
  options: {
    template: { value: "SLUG", means: "begin: the template whose steps it copies; needed" },
    criterion: { value: "KEY", means: "complete: attest this one; the last completes the step" },
    note: { value: "TEXT", means: "start: what to know; complete: what makes it done" },
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
  context.print(runs, lines.length ? lines.join("\n") : "There is no run.");
}

async function begin(context: Context): Promise<void> {
  const goal = word(context, 0, "GOAL");
  const slug = text(context, "template");
  if (!slug) throw new UsageError("--template is missing: a run needs the slug of a template.");
  const { signal } = context;
  const template = await context.client.templates.get({ slug }, { signal });
  const begun = await context.client.runs.create({ goal, template_id: template.id }, { signal });
  context.print(begun, begun.id);
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
  context.print(attempt, [`${step.step_key} is started.`, attempt.warning].filter(Boolean).join(" "));
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
    completed_step_key ? `${completed_step_key} is completed.` : `${criterion_key} is attested.`,
    ready && `Now ready: ${ready}.`,
    run_completed && "The run is completed.",
  ];
  context.print(result, said.filter(Boolean).join(" "));
}

function stepOf(context: Context): { run_id: string; step_key: string } {
  return { run_id: word(context, 0, "RUN"), step_key: word(context, 1, "STEP") };
}
