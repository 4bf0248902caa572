import { ApiError } from "../errors.ts";
import type { CallOptions } from "../operation.ts";
import { adviceOn, requireTold } from "./advice.ts";
import { type Command, type Context, word } from "./command.ts";
import { briefFor } from "./hooks/brief.ts";
import { type HookInput, makeAnswer, parseInput, TOOLS, type Tool } from "./hooks/input.ts";
import { projectAt } from "./hooks/project.ts";
import { handoffOf } from "./hooks/save.ts";
import { noteEnded, noteTaken } from "./hooks/turns.ts";
import { noteUnsaved, unsavedIn } from "./hooks/unsaved.ts";
import { waitingEvents } from "./hooks/waiting.ts";
import { firstObject } from "./input.ts";
import { Failure, UsageError } from "./usage.ts";

/** A session waits for its brief, each turn for its hooks, and a tool that ends. In milliseconds. */
const TIMEOUT_MS = { start: 2500, turn: 1000, save: 5000 };

export const hook: Command = {
  takes: "TOOL",
  does:
    "Answers a hook of a coding tool, which it reads from standard input: prints a brief for a session that starts, " +
    "and which events wait for a turn that starts; tells `mcp --acknowledge turn` which turn has ended; " +
    `saves a handoff of one that ends or is compacted. Tools: ${TOOLS.join(", ")}.`,
  examples: ["hook claude-code"],
  as: ["agent"],
  lenient: true,
  unattended: true,
  async run(context) {
    const tool = parseTool(word(context, 0, "TOOL"));
    const { stdin, folder } = context.host;
    const input = parseInput(await firstObject(stdin), tool, folder);
    const answer = makeAnswer(tool, input.event, await carryOut(context, tool, input));
    context.print(answer, JSON.stringify(answer));
  },
};

function parseTool(typed: string): Tool {
  const tool = TOOLS.find((each) => each === typed);
  if (!tool) throw new UsageError(`TOOL is ${typed}: expected ${TOOLS.join(", ")}.`);
  return tool;
}

/** Returns what a session or turn that starts is told, if there is something to say. */
async function carryOut(context: Context, tool: Tool, input: HookInput): Promise<string | undefined> {
  if (input.task === undefined) return undefined;
  const { client, host, telling } = context;
  if (input.task === "end") return void (await noteEnded(host, input));
  if (input.task === "turn") {
    await noteTaken(host, input);
    return within(context, "turn", (signal) => waitingEvents(client, { signal, retries: 0 }));
  }
  const project = await projectAt(host, input.cwd);
  if (project.proposed)
    telling.note(
      `The repository asks for the project ${project.proposed}: to agree, run \`sensorium project use ${project.proposed}\` in it.`,
    );
  if (input.task === "save") {
    const { sessionId } = input;
    await noteUnsaved(host, { tool, sessionId, root: project.root }, async () => {
      const handoff = await handoffOf({ ...input, tool, project });
      // Over the one that the session saved before.
      if (handoff)
        await within(context, "save", (signal) => client.handoffs.save(handoff, { signal, retries: 1 }));
    });
    return undefined;
  }
  const unsaved = await unsavedIn(host, project.root);
  const tell = (task: (options: CallOptions) => Promise<string | undefined>) =>
    within(context, "start", (signal) => task({ signal, retries: 0 }));
  const brief = tell((options) => briefFor(client, options, input, project));
  // If it fails, so does the brief, or the next turn says why.
  const waiting = tell((options) => waitingEvents(client, options)).catch(() => undefined);
  // Of two things to say, one is said although the other is not known.
  const told = unsaved ? await brief.catch((error: Error) => void telling.problem(error)) : await brief;
  return [unsaved, told, await waiting].filter(Boolean).join("\n\n") || undefined;
}

/** @throws Failure that says why it was not done in time, or was refused */
async function within<T>(
  { settings, signal }: Context,
  task: keyof typeof TIMEOUT_MS,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = AbortSignal.timeout(TIMEOUT_MS[task]);
  try {
    requireTold(settings);
    return await work(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (deadline.aborted)
      throw new Failure(`${settings.profile.url} did not answer in time.`, "unavailable_here");
    throw error instanceof ApiError ? new Failure(adviceOn(error, settings), error) : error;
  }
}
