import type { HandoffsSaveParams } from "../generated/types.ts";
import { type Command, type Context, text, word } from "./command.ts";
import { contentOf, objectOf } from "./input.ts";
import { UsageError } from "./usage.ts";

type Action = (context: Context) => Promise<void>;

const ACTIONS: Record<string, Action> = { save, list, resume };

export const handoff: Command = {
  takes: "save NAME | list [QUERY] | resume QUERY",
  does: "Saves a handoff, lists handoffs, or resumes one: prints its brief as Markdown.",
  options: {
    summary: { value: "TEXT", means: "save: the state of the work" },
    next: { value: "TEXT", means: "save: the next action" },
    payload: { value: "JSON", means: "save: completed, remaining, blockers, decisions … of the handoff" },
  },
  async run(context) {
    const name = context.words.shift() ?? "list";
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (!action) throw new UsageError(`handoff ${name}: expected ${Object.keys(ACTIONS).join(", ")}.`);
    await action(context);
  },
};

async function save(context: Context): Promise<void> {
  const name = word(context, 0, "NAME");
  const summary = text(context, "summary");
  const next = text(context, "next");
  const payload = text(context, "payload");
  const given = payload === undefined ? {} : await objectOf(payload, "--payload");
  const params: HandoffsSaveParams = {
    name,
    origin_client: "sensorium",
    payload: { ...given, ...(next && { next_action: await contentOf(next) }) },
    ...(summary && { summary: await contentOf(summary) }),
  };
  const saved = await context.client.handoffs.save(params, { signal: context.signal });
  context.print(saved, `${saved.name}, version ${saved.version_num} (${saved.id})`);
}

async function list(context: Context): Promise<void> {
  const [q] = context.words;
  const found = await context.client.handoffs.list(q ? { q } : {}, { signal: context.signal });
  const lines = found.map(({ name, updated_at, summary }) =>
    `${updated_at}  ${name}  ${summary.split("\n")[0]}`.trimEnd(),
  );
  context.print(found, lines.length ? lines.join("\n") : "No handoffs.");
}

async function resume(context: Context): Promise<void> {
  const query = word(context, 0, "QUERY");
  const answer = await context.client.handoffs.resume({ query }, { signal: context.signal });
  if (typeof answer === "string") return context.print({ brief: answer }, answer.trimEnd());
  const lines = answer.candidates.map(({ name, summary }) =>
    `  ${name}  ${summary.split("\n")[0]}`.trimEnd(),
  );
  context.print(answer, `Several handoffs match; name one of them:\n${lines.join("\n")}`);
}
