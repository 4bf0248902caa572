import type { Schedule } from "../generated/types.ts";
import { type Command, type Context, choice, given, optionalChoice, text, word } from "./command.ts";
import { readJson } from "./input.ts";
import { LIMIT, takeFirst } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { readTime, TIME_FORMS } from "./times.ts";
import { UsageError } from "./usage.ts";

const POLICIES = ["skip", "run_once", "run_all"] as const;
const STATUSES = ["active", "paused", "ended"] as const;

const WHEN = {
  cron: { value: "EXPR", means: "repeatedly: minute, hour, day of month, month, day of week" },
  "time-zone": { value: "NAME", means: "the time zone of --cron, if it is not --timezone" },
  at: { value: "TIME", means: `once, at this time, ${TIME_FORMS}` },
  in: { value: "DURATION", means: "once, after this time, such as 90s, 15m, 2h or 7d" },
};

const create: Command = {
  takes: "TYPE [DATA]",
  does: "Creates a schedule that publishes an event of this type; DATA is JSON.",
  options: {
    ...WHEN,
    name: { value: "TEXT", means: "its name; default: the type" },
    source: { value: "URI", means: "the producer; default: the schedule" },
    subject: { value: "TEXT", means: "the subject of the events" },
    missed: { value: POLICIES.join("|"), means: "what to publish of missed ticks; default: run_once" },
    paused: { means: "begin paused" },
  },
  examples: [
    "schedule create com.example.report.due --cron '0 9 * * MON-FRI' --timezone Europe/Berlin",
    'schedule create com.example.reminder \'{"text": "Call back"}\' --in 2h',
  ],
  async run(context) {
    const type = word(context, 0, "TYPE");
    const [, data] = context.words;
    const event = {
      type,
      ...given(context, "source", "subject"),
      ...(data !== undefined && { data: await readJson(context.host, data, "DATA") }),
    };
    const made = await context.client.schedules.create(
      {
        name: text(context, "name") ?? type,
        event,
        ...when(context),
        on_missed: choice(context, "missed", POLICIES, "run_once"),
        paused: context.options.paused === true,
      },
      { signal: context.signal },
    );
    context.print(made, formatLine(made));
  },
};

const list: Command = {
  takes: "",
  does: "Lists schedules: an agent's own, or for admins all.",
  options: { status: { value: STATUSES.join("|"), means: "only those with this status" }, ...LIMIT },
  async run(context) {
    const status = optionalChoice(context, "status", STATUSES);
    const schedules = await takeFirst(context, context.client.schedules.list, { ...(status && { status }) });
    context.table(
      schedules,
      schedules,
      [
        ["ID", ({ id }) => id],
        ["STATUS", ({ status, last_error }) => (last_error ? `${status}, failing` : status)],
        ["NEXT", ({ next_run_at }) => next_run_at],
        ["LAST", ({ last_run_at }) => (last_run_at ? age(last_run_at) : null)],
        ["RUNS", ({ run_count }) => run_count],
        ["WHEN", ({ when }) => when],
        ["NAME", ({ name }) => name],
      ],
      "No schedules.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows a schedule: what it publishes, when, and how the latest ticks went.",
  async run(context) {
    const schedule_id = word(context, 0, "ID");
    const { client, signal } = context;
    const found = await client.schedules.get({ schedule_id }, { signal });
    const { cron, time_zone, status, next_run_at } = found;
    const { next } =
      cron !== null && status === "active"
        ? await client.schedules.test({ cron, time_zone }, { signal })
        : { next: next_run_at === null ? [] : [next_run_at] };
    context.print(found, () => shown(found, next.slice(0, SHOWN_TICKS)));
  },
};

/** Times to come that a schedule is shown with. */
const SHOWN_TICKS = 3;

const next: Command = {
  takes: "",
  does: "Shows the next times of a cron expression, without creating a schedule.",
  options: WHEN,
  examples: ["schedule next --cron '30 2 * * *' --timezone America/New_York"],
  async run(context) {
    const tested = await context.client.schedules.test(when(context), { signal: context.signal });
    context.print(tested, tested.next.join("\n"));
  },
};

const pause: Command = {
  takes: "ID",
  does: "Pauses a schedule.",
  run: (context) => setPaused(context, true),
};

const resume: Command = {
  takes: "ID",
  does: "Resumes a paused schedule. Ticks of the pause are not made up for.",
  run: (context) => setPaused(context, false),
};

const run: Command = {
  takes: "ID",
  does: "Publishes the event of a schedule now, in addition to its ticks.",
  async run(context) {
    const schedule_id = word(context, 0, "ID");
    const result = await context.client.schedules.run({ schedule_id }, { signal: context.signal });
    context.print(result, `${result.event_id} ${result.status}`);
  },
};

const remove: Command = {
  takes: "ID",
  does: "Deletes a schedule.",
  async run(context) {
    const schedule_id = word(context, 0, "ID");
    await context.client.schedules.delete({ schedule_id }, { signal: context.signal });
    context.print({ deleted: schedule_id }, `${schedule_id} deleted.`);
  },
};

async function setPaused(context: Context, paused: boolean): Promise<void> {
  const schedule_id = word(context, 0, "ID");
  const changed = await context.client.schedules.update({ schedule_id, paused }, { signal: context.signal });
  context.print(changed, formatLine(changed));
}

/** Returns when it publishes, as given by the options. @throws UsageError */
function when(context: Context): { cron?: string; time_zone?: string; at?: string } {
  const cron = text(context, "cron");
  const at = readTime(context);
  const time_zone = text(context, "time-zone") ?? text(context, "timezone");
  if (cron === undefined && at === undefined)
    throw new UsageError("When is missing: give --cron, --at or --in.");
  if (cron !== undefined && at !== undefined) throw new UsageError("Give --cron, --at or --in: only one.");
  return { ...(cron && { cron }), ...(time_zone && { time_zone }), ...(at && { at }) };
}

function formatLine({ id, status, when, next_run_at }: Schedule): string {
  return next_run_at ? `${id} ${status}, next at ${next_run_at} (${when})` : `${id} ${status}`;
}

function shown(schedule: Schedule, next: readonly string[]): string {
  const { cron, last_run_at, last_event_id, last_missed_at, last_error, event } = schedule;
  const details = formatDetails([
    ["Schedule", schedule.id],
    ["Name", schedule.name],
    ["Owner", schedule.owner_id],
    ["Status", schedule.status],
    ["When", schedule.when],
    ["Cron", cron],
    ["Missed ticks", schedule.on_missed],
    ["Next", next.join(", ")],
    ["Last", last_run_at && `${last_run_at} (${age(last_run_at)})`],
    ["Last event", last_event_id],
    ["Last missed", last_missed_at],
    ["Last error", last_error && `${last_error} (${age(schedule.last_error_at)})`],
    ["Runs", schedule.run_count],
  ]);
  return `${details}\n\n${JSON.stringify(event, null, 2)}`;
}

export const SCHEDULES: Record<string, Command> = {
  "schedule create": create,
  "schedule list": list,
  "schedule show": show,
  "schedule next": next,
  "schedule pause": pause,
  "schedule resume": resume,
  "schedule run": run,
  "schedule delete": remove,
};
