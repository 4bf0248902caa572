import { isFinal } from "../errors.ts";
import type { EventSummary } from "../generated/types.ts";
import { type Handler, Untried } from "../handler.ts";
import { jsonLine } from "../lines.ts";
import { pause } from "../support.ts";
import { type Command, type Context, choice, count, noteWarnings, text, word } from "./command.ts";
import { startHeartbeat } from "./connect.ts";
import { readJson } from "./input.ts";
import { PAUSE_OPTIONS, Pauses } from "./pauses.ts";
import { Reaper } from "./reaper.ts";
import { graceAfter, shownOf, supervise } from "./supervise.ts";
import { readDuration, readTime, TIME_FORMS } from "./times.ts";

export const publish: Command = {
  takes: "TYPE [DATA]",
  does: "Publishes an event; DATA is JSON.",
  options: {
    source: { value: "URI", means: "the producer; default: urn:sensorium:cli" },
    subject: { value: "TEXT", means: "the subject of the event" },
    id: { value: "ID", means: "the deduplication key; default: a new one" },
    at: { value: "TIME", means: `deliver it at this time, not before, ${TIME_FORMS}` },
    in: { value: "DURATION", means: "deliver it after this time, such as 90s, 15m, 2h or 7d" },
  },
  examples: [
    "publish com.example.order.placed '{\"total\": 120}' --subject order-1",
    "publish com.example.reminder --in 2h",
  ],
  async run(context) {
    const type = word(context, 0, "TYPE");
    const [, data] = context.words;
    const subject = text(context, "subject");
    const id = text(context, "id") ?? text(context, "idempotency-key");
    const notbefore = readTime(context);
    const result = await context.client.publish(
      {
        type,
        source: text(context, "source") ?? "urn:sensorium:cli",
        ...(data !== undefined && { data: await readJson(context.host, data, "DATA") }),
        ...(subject && { subject }),
        ...(id && { id }),
        ...(notbefore && { notbefore }),
      },
      { signal: context.signal },
    );
    const waits = notbefore && Date.parse(notbefore) > Date.now() && result.status === "accepted";
    context.print(result, `${result.event_id} ${result.status}${waits ? `, waits until ${notbefore}` : ""}`);
    noteWarnings(context, result);
  },
};

export const listen: Command = {
  takes: "",
  does: "Receives the agent's events; prints each, or runs a command with it, and acknowledges it.",
  options: {
    exec: {
      value: "COMMAND",
      means: "run for each event, as JSON on standard input; its exit code settles it as with work",
    },
    concurrency: { value: "N", means: "events handled at a time; default: 1" },
    ...PAUSE_OPTIONS,
    grace: { value: "DURATION", means: "time for running commands once it is stopped; default: 10s" },
    by: {
      value: "stream|poll",
      means: "use poll if several processes share an agent's work; default: stream",
    },
    count: { value: "N", means: "stop after N events" },
  },
  examples: ["listen --exec 'jq .subject' --concurrency 4"],
  as: ["agent"],
  async run(context) {
    const command = text(context, "exec");
    const most = count(context, "count", Number.MAX_SAFE_INTEGER);
    let handled = 0;
    const { host, signal, telling } = context;
    const grace = graceAfter(signal, readDuration(context, "grace", "10s"));
    const pauses = new Pauses(context);
    const reaper = command === undefined ? undefined : new Reaper();
    const handler: Handler = async (event) => {
      if (command && reaper) {
        const about = `${event.type} ${event.id}`;
        let said = "";
        await supervise(reaper, {
          ...{ command: [command], shell: true, env: { ...host.env }, cwd: host.cwd, stdout: host.stdout },
          ...{ input: jsonLine(event), about, signal: grace.over, ending: signal },
          pauseOn: pauses.codes,
          show: (line) => {
            said = line.trim() || said;
            telling.note(`${about}: ${line}`);
          },
          reason: () => said,
        }).catch((error) => {
          throw pauses.heed(error, command, about);
        });
      } else context.print(event, () => formatLine(event.type, event.subject, event.data));
      if (++handled === most) pauses.stop();
    };
    const by = choice(context, "by", ["stream", "poll"], "stream");
    const concurrency = count(context, "concurrency", 1);
    const listen = () =>
      context.client.listen(handler, {
        ...{ by, concurrency, signal },
        onProblem: (problem) => problem instanceof Untried || telling.problem(shownOf(problem)),
      });
    notePeople(context, "Listening. Ctrl-C ends it.");
    const stopHeartbeat = startHeartbeat(context);
    await pauses
      .listen(listen, () => handled >= most)
      .finally(() => {
        grace.cancel();
        stopHeartbeat();
        reaper?.stop();
      });
    // Fewer events than requested is a failure.
    if (text(context, "count") !== undefined && handled < most) context.signal.throwIfAborted();
  },
};

/** Notes to people, not programs, that the command is running although it has printed nothing yet. */
export function notePeople({ host, telling }: Context, text: string): void {
  if (host.stderr.isTTY) telling.note(text);
}

/** An event may become visible after one accepted later, because of matching or another node's clock. */
const OVERLAP_MS = 10_000;
const REOPEN_MS = 1000;

export const tail: Command = {
  takes: "[TYPE]",
  does: "Shows new events that the caller may read as they come, without receiving them. TYPE is a glob.",
  options: { count: { value: "N", means: "stop after N events" } },
  examples: ["tail 'com.example.order.*'"],
  async run(context) {
    notePeople(context, "Waiting for events. Ctrl-C ends it.");
    const stopHeartbeat = startHeartbeat(context);
    let left = count(context, "count", Number.MAX_SAFE_INTEGER);
    try {
      for await (const event of newEvents(context, context.words[0])) {
        const { type, subject, data } = event.payload;
        context.print(event, () => `${event.accepted_at} ${formatLine(type, subject, data)}`);
        if (--left === 0) return;
      }
    } finally {
      stopHeartbeat();
    }
  },
};

/** Yields the events from now on that the caller may see, oldest first, each once, over as many streams as it takes. */
async function* newEvents(context: Context, type: string | undefined): AsyncGenerator<EventSummary, void> {
  const { signal, telling } = context;
  const seen = new Map<string, string>();
  let start = "";
  let latest: string | undefined;
  for (;;) {
    try {
      for await (const { event, data } of openStream(context, type, latest && later(start, before(latest)))) {
        if (event === "ready") start ||= latest ??= (data as { at: string }).at;
        if (event !== "event") continue;
        const summary = data as EventSummary;
        if (seen.has(summary.event_id)) continue;
        yield summary;
        seen.set(summary.event_id, summary.accepted_at);
        if (summary.accepted_at > (latest ?? "")) latest = summary.accepted_at;
        for (const [id, at] of seen) if (at < before(latest as string)) seen.delete(id);
      }
    } catch (error) {
      // Goes on once it has worked.
      if (signal.aborted || isFinal(error) || latest === undefined) throw error;
      telling.problem(error as Error);
    }
    // A stream ends with its token, and when its node stops.
    await pause(REOPEN_MS, signal);
  }
}

/** Opens a stream of new events; a later one begins where the one before it may have missed some. */
function openStream({ client, signal }: Context, type: string | undefined, since: string | undefined) {
  return client.events.stream({ ...(type && { type }), ...(since && { since }) }, { signal });
}

const later = (a: string, b: string) => (a > b ? a : b);
const before = (time: string) => new Date(Date.parse(time) - OVERLAP_MS).toISOString();

function formatLine(type: string, subject: string | undefined, data: unknown): string {
  return [type, subject, data === undefined ? undefined : JSON.stringify(data)].filter(Boolean).join(" ");
}
