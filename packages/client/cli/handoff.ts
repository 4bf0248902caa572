import type { HandoffsSaveParams } from "../generated/types.ts";
import { type Command, type Context, text, word } from "./command.ts";
import { readContent, readObject } from "./input.ts";
import { age } from "./table.ts";

export const HANDOFF: Record<string, Command> = {
  "handoff save": {
    takes: "NAME",
    does: "Saves a handoff: the state of the agent's work, for the next session.",
    options: {
      summary: { value: "TEXT", means: "the state of the work" },
      next: { value: "TEXT", means: "the next action" },
      payload: { value: "JSON", means: "completed, remaining, blockers, decisions … of the handoff" },
    },
    examples: ["handoff save parcels --summary 'Two of three are packed.' --next 'Pack the third.'"],
    as: ["agent"],
    run: save,
  },
  "handoff list": { takes: "[QUERY]", does: "Lists handoffs, latest first.", as: ["agent"], run: list },
  "handoff resume": {
    takes: "QUERY",
    does: "Resumes a handoff: prints its brief as Markdown.",
    as: ["agent"],
    run: resume,
  },
};

async function save(context: Context): Promise<void> {
  const name = word(context, 0, "NAME");
  const summary = text(context, "summary");
  const next = text(context, "next");
  const payload = text(context, "payload");
  const given = payload === undefined ? {} : await readObject(context.host, payload, "--payload");
  const params: HandoffsSaveParams = {
    name,
    origin_client: "sensorium",
    payload: { ...given, ...(next && { next_action: await readContent(context.host, next) }) },
    ...(summary && { summary: await readContent(context.host, summary) }),
  };
  const saved = await context.client.handoffs.save(params, { signal: context.signal });
  context.print(saved, `${saved.name}, version ${saved.version_num} (${saved.id})`);
}

async function list(context: Context): Promise<void> {
  const [q] = context.words;
  const found = await context.client.handoffs.list(q ? { q } : {}, { signal: context.signal });
  context.table(
    found,
    found,
    [
      ["UPDATED", ({ updated_at }) => age(updated_at)],
      ["NAME", ({ name }) => name],
      ["SUMMARY", ({ summary }) => summary],
    ],
    "No handoffs.",
  );
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
