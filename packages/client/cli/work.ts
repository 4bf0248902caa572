import { basename } from "node:path";
import type { CloudEvent, DeliveryEvent } from "../generated/types.ts";
import { type Handler, Untried } from "../handler.ts";
import { jsonLine } from "../lines.ts";
import { after } from "../support.ts";
import { type Command, choice, count, text } from "./command.ts";
import { Collected, commandOutput } from "./command-output.ts";
import { startHeartbeat } from "./connect.ts";
import { LogTail } from "./log-tail.ts";
import { PAUSE_OPTIONS, Pauses } from "./pauses.ts";
import { promptFor } from "./prompt.ts";
import { Reaper } from "./reaper.ts";
import { CommandFailure, graceAfter, shownOf, supervise } from "./supervise.ts";
import { readDuration } from "./times.ts";
import { UsageError } from "./usage.ts";

/** Programs that take a prompt on standard input. */
const TAKE_PROMPTS = ["claude", "codex", "gemini"];

export const work: Command = {
  takes: "-- COMMAND [ARG...]",
  does: "Runs a command for each of the agent's events, until it is stopped. Exit code 0 acknowledges the event.",
  options: {
    concurrency: { value: "N", means: "commands at a time; default: 1" },
    timeout: {
      value: "DURATION",
      means: "end a command that takes longer, such as 90s, 15m or 2h; default: 1h",
    },
    grace: { value: "DURATION", means: "time for running commands once it is stopped; default: 10s" },
    ...PAUSE_OPTIONS,
    folder: { value: "DIR", means: "working folder of the command" },
    input: {
      value: "json|prompt",
      means: `the event on standard input; default: prompt for ${TAKE_PROMPTS.join(", ")}, otherwise json`,
    },
    output: {
      value: "NAME",
      means:
        "save each standard output as a version of this output of the agent, before the event is acknowledged",
    },
    "no-log": {
      means: "keep nothing of the output with the delivery, nor its last line as the reason of a failure",
    },
    count: { value: "N", means: "stop after N events" },
  },
  examples: [
    "work -- claude -p --permission-mode acceptEdits",
    "work --concurrency 4 -- node handle.mjs",
    "work --output daily-report -- node report.mjs",
  ],
  as: ["agent"],
  async run(context) {
    const [program, ...args] = context.words;
    if (!program) throw new UsageError("COMMAND is missing: sensorium work -- COMMAND.");
    const { host, telling, signal } = context;
    const folder = text(context, "folder");
    const timeout = text(context, "timeout") ?? "1h";
    const timeoutMs = readDuration(context, "timeout", timeout);
    const graceMs = readDuration(context, "grace", "10s");
    const pauses = new Pauses(context);
    const concurrency = count(context, "concurrency", 1);
    const most = count(context, "count", Number.MAX_SAFE_INTEGER);
    const usual = TAKE_PROMPTS.includes(basename(program)) ? "prompt" : "json";
    const toInput = choice(context, "input", ["json", "prompt"], usual) === "prompt" ? promptFor : jsonLine;
    const output = commandOutput(context);
    const isLogged = context.options["no-log"] !== true;
    const reaper = new Reaper();
    const grace = graceAfter(signal, graceMs);
    let handled = 0;
    const handler: Handler = async (event, { delivery, log }) => {
      const about = `${event.type} ${event.id}`;
      const late = new AbortController();
      const tail = new LogTail();
      const collected = output && new Collected();
      const reason = `${program} took longer than the ${timeout} of --timeout`;
      const cancel = after(timeoutMs, () => late.abort(new CommandFailure(reason, `${about}: ${reason}`)));
      await supervise(reaper, {
        command: [program, ...args],
        input: toInput(event, delivery),
        about,
        cwd: folder ? host.pathOf(folder) : host.cwd,
        env: { ...host.env, ...environmentFor(event, delivery) },
        signal: AbortSignal.any([grace.over, late.signal]),
        ending: signal,
        pauseOn: pauses.codes,
        show: (line) => {
          tail.add(line);
          telling.note(`${about}: ${line}`);
        },
        reason: () => (isLogged ? tail.lastLine() : ""),
        collect: collected && ((chunk) => collected.add(chunk)),
        ended: (how) => {
          if (isLogged)
            log(tail.toText(late.signal.aborted ? `${how}: it took longer than ${timeout}` : how));
        },
      })
        .catch((error) => {
          throw pauses.heed(error, program, about);
        })
        .finally(cancel);
      if (collected) await output?.save(collected, { event, delivery, signal: grace.over });
      context.print({ event_id: event.id, type: event.type, handled: true }, `${about}: handled`);
      if (++handled === most) pauses.stop();
    };
    const stopHeartbeat = startHeartbeat(context);
    try {
      const listen = () =>
        context.client.listen(handler, {
          concurrency,
          maxInFlight: concurrency,
          signal,
          onProblem: (problem) => problem instanceof Untried || telling.problem(shownOf(problem)),
        });
      await pauses.listen(listen, () => handled >= most);
    } finally {
      grace.cancel();
      stopHeartbeat();
      reaper.stop();
    }
  },
};

/** Variables for a command to settle its delivery itself, or to tell a retry from the first attempt. */
function environmentFor({ id, type }: CloudEvent, delivery: DeliveryEvent): Record<string, string> {
  return {
    SENSORIUM_EVENT_ID: id,
    SENSORIUM_EVENT_TYPE: type,
    SENSORIUM_DELIVERY_ID: delivery.id,
    SENSORIUM_ATTEMPT: String(delivery.attempt_count),
    ...(delivery.lease && { SENSORIUM_LEASE: delivery.lease }),
  };
}
