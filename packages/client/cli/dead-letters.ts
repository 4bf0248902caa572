import type { DeadLetter } from "../generated/types.ts";
import { agentNames, findAgentId } from "./agent-names.ts";
import { type Command, type Context, count, text, word } from "./command.ts";
import { confirmed } from "./confirm.ts";
import { formatLog, readLog } from "./delivery-log.ts";
import { LIMIT } from "./paged.ts";
import { age, formatDetails } from "./table.ts";
import { Failure, UsageError } from "./usage.ts";

const as = ["person", "agent"] as const;

const WHICH = {
  agent: { value: "AGENT", means: "only those of this agent, by its id or name" },
  reason: { value: "TEXT", means: "only those with this reason" },
};
const MANY = { ...WHICH, all: { means: "all dead letters, if nothing else selects them" } };

const list: Command = {
  takes: "",
  does: "Lists dead letters, newest first: an agent's own, or for admins those of all agents.",
  options: { ...WHICH, ...LIMIT },
  examples: ["dlq list", "dlq list --reason '503 Service Unavailable' --query '[].id'"],
  as,
  async run(context) {
    const most = count(context, "limit", 50);
    const found: DeadLetter[] = [];
    for await (const letter of letters(context)) if (found.push(letter) === most) break;
    const nameOf = await agentNames(context);
    context.table(
      found,
      found,
      [
        ["ID", ({ id }) => id],
        ["DEAD", ({ dead_lettered_at }) => age(dead_lettered_at)],
        ["AGENT", ({ agent_id }) => nameOf(agent_id)],
        ["TYPE", ({ payload }) => typeOf(payload)],
        ["REASON", ({ dlq_reason }) => dlq_reason],
      ],
      "No dead letters.",
    );
  },
};

const causes: Command = {
  takes: "",
  does: "Counts dead letters by agent and reason, most frequent first.",
  options: WHICH,
  as,
  async run(context) {
    const groups = new Map<
      string,
      { count: number; agent_id: string | null; reason: string; latest: string }
    >();
    for await (const { agent_id, dlq_reason, dead_lettered_at } of letters(context)) {
      const key = `${agent_id} ${dlq_reason}`;
      const group = groups.get(key) ?? { count: 0, agent_id, reason: dlq_reason, latest: dead_lettered_at };
      group.count++;
      groups.set(key, group);
    }
    const found = [...groups.values()].sort((a, b) => b.count - a.count);
    const nameOf = await agentNames(context);
    context.table(
      found,
      found,
      [
        ["COUNT", ({ count }) => count],
        ["LATEST", ({ latest }) => age(latest)],
        ["AGENT", ({ agent_id }) => nameOf(agent_id)],
        ["REASON", ({ reason }) => reason],
      ],
      "No dead letters.",
    );
  },
};

const show: Command = {
  takes: "ID",
  does: "Shows a dead letter with its event and the log of its last attempt.",
  as,
  async run(context) {
    const id = word(context, 0, "ID");
    for await (const letter of letters(context)) if (letter.id === id) return shown(context, letter);
    throw new Failure(`No dead letter ${id}: it was replayed or discarded, or it is not yours.`, "not_found");
  },
};

const replay: Command = {
  takes: "[ID...]",
  does: "Replays dead letters after their cause is fixed: by id, or all that the options select.",
  options: { ...MANY, "dry-run": { means: "only say how many" } },
  examples: ["dlq replay dlv_…", "dlq replay --agent billing --reason '503 Service Unavailable'"],
  as,
  async run(context) {
    const ids = await selected(context);
    const dry_run = context.options["dry-run"] === true;
    let replayed = 0;
    for (let at = 0; at < ids.length; at += AT_ONCE) {
      const piece = ids.slice(at, at + AT_ONCE);
      const { count } = await context.client.deliveries.replayMany(
        { ids: piece, dry_run },
        { signal: context.signal },
      );
      replayed += count;
      if (ids.length > AT_ONCE) context.telling.note(`${at + piece.length} of ${ids.length}`);
    }
    const told = dry_run ? "would be replayed" : "replayed";
    context.print({ count: replayed, dry_run }, `${replayed} ${told}.`);
  },
};

/** The service replays and deletes this many ids per request. */
const AT_ONCE = 1000;

const discard: Command = {
  takes: "[ID...]",
  does: "Deletes dead letters permanently: by id, or all that the options select.",
  options: { ...MANY, yes: { short: "y", means: "do not ask" } },
  examples: ["dlq discard dlv_…", "dlq discard --agent billing --yes"],
  as,
  async run(context) {
    const ids = await selected(context);
    if (ids.length && !context.words.length) await confirmed(context, `Delete ${ids.length} dead letters`);
    const { deliveries } = context.client;
    const options = { signal: context.signal };
    if (context.words.length) for (const id of ids) await deliveries.discard({ id }, options);
    else {
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        const piece = ids.slice(at, at + AT_ONCE);
        await deliveries.discardMany({ ids: piece }, options);
        if (ids.length > AT_ONCE) context.telling.note(`${at + piece.length} of ${ids.length}`);
      }
    }
    context.print({ count: ids.length }, `${ids.length} discarded.`);
  },
};

const PAGE = 200;

async function* letters(context: Context): AsyncGenerator<DeadLetter, void> {
  const agent = text(context, "agent");
  const agent_id = agent && (await findAgentId(context, agent));
  const reason = text(context, "reason");
  const { client, signal } = context;
  const filter = { limit: PAGE, ...(agent_id && { agent_id }), ...(reason && { reason }) };
  yield* client.deliveries.deadLetters.all(filter, { signal });
}

/** Returns the ids that are given or selected. @throws UsageError if neither, or both */
async function selected(context: Context): Promise<string[]> {
  const { words, options } = context;
  const isSelected = [options.agent, options.reason, options.all].some((each) => each !== undefined);
  if (words.length && isSelected) throw new UsageError("Give ids, or options that select; not both.");
  if (words.length) return words;
  if (!isSelected) throw new UsageError("ID is missing: give ids, --reason, --agent or --all.");
  const ids: string[] = [];
  for await (const { id } of letters(context)) ids.push(id);
  return ids;
}

async function shown(context: Context, letter: DeadLetter): Promise<void> {
  const log = await readLog(context, { agent_id: letter.agent_id, delivery_id: letter.id });
  const { id, event_id, agent_id, attempt_count, dlq_reason, created_at, dead_lettered_at, payload } = letter;
  const details = formatDetails([
    ["Delivery", id],
    ["Event", event_id],
    ["Agent", agent_id],
    ["Reason", dlq_reason],
    ["Attempts", attempt_count],
    ["Created", `${created_at} (${age(created_at)})`],
    ["Dead", `${dead_lettered_at} (${age(dead_lettered_at)})`],
  ]);
  const parts = [details, formatLog(log), JSON.stringify(payload, null, 2)];
  context.print({ ...letter, log }, parts.filter(Boolean).join("\n\n"));
}

function typeOf(payload: unknown): string | null {
  const { type } = (payload ?? {}) as { type?: unknown };
  return typeof type === "string" ? type : null;
}

export const DEAD_LETTERS = {
  "dlq list": list,
  "dlq causes": causes,
  "dlq show": show,
  "dlq replay": replay,
  "dlq discard": discard,
};
