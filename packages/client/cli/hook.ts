import { text as readAll } from "node:stream/consumers";
import { ApiError } from "../errors.ts";
import { adviceOn, requireTold } from "./advice.ts";
import { type Command, type Context, word } from "./command.ts";
import { briefFor } from "./hooks/brief.ts";
import { answerOf, type HookInput, inputOf, TOOLS, type Tool } from "./hooks/input.ts";
import { projectAt } from "./hooks/project.ts";
import { saveSession } from "./hooks/save.ts";
import { Failure, UsageError } from "./usage.ts";

/** A session waits for its brief, and a tool that ends for its hooks. In milliseconds. */
const TIMEOUT_MS = { start: 2500, save: 5000 };

export const hook: Command = {
  takes: "TOOL",
  does:
    "Answers a hook of a coding tool, which it reads from standard input: prints a brief for a session that starts, " +
    `saves a handoff of one that ends or is compacted. Tools: ${TOOLS.join(", ")}.`,
  examples: ["hook claude-code"],
  as: ["agent"],
  lenient: true,
  unattended: true,
  async run(context) {
    const tool = toolOf(word(context, 0, "TOOL"));
    const input = inputOf(await readAll(process.stdin));
    const answer = answerOf(tool, input.task ? await carryOut(context, tool, input) : undefined);
    context.print(answer, JSON.stringify(answer));
  },
};

function toolOf(typed: string): Tool {
  const tool = TOOLS.find((each) => each === typed);
  if (!tool) throw new UsageError(`TOOL is ${typed}: expected ${TOOLS.join(", ")}.`);
  return tool;
}

/** Returns the brief of a session that starts, if there is something to say. */
async function carryOut(context: Context, tool: Tool, input: HookInput): Promise<string | undefined> {
  const { client, settings, telling } = context;
  const deadline = AbortSignal.timeout(TIMEOUT_MS[input.task ?? "save"]);
  const signal = AbortSignal.any([context.signal, deadline]);
  try {
    const project = await projectAt(input.cwd);
    if (project.proposed)
      telling.note(
        `The repository asks for the project ${project.proposed}: to agree, run \`sensorium project use ${project.proposed}\` in it.`,
      );
    requireTold(settings);
    if (input.task === "start") return await briefFor(client, { signal, retries: 0 }, input, project);
    await saveSession(client, { signal, retries: 1 }, { ...input, tool, project });
    return undefined;
  } catch (error) {
    if (deadline.aborted)
      throw new Failure(`${settings.profile.url} did not answer in time.`, "unavailable_here");
    throw error instanceof ApiError ? new Failure(adviceOn(error, settings), error) : error;
  }
}
