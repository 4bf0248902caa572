/** A system call in a trace. Its position in the file gives the order over all threads. */
export interface Call {
  thread: number;
  name: string;
  /** Arguments as strace prints them; strings are escaped and may be cut off. */
  args: string;
  /** The returned value, as text. */
  result: string;
  /** Line on which it began and line on which it was over. */
  begun: number;
  ended: number;
}

// `-f -ttt -o FILE`: thread, time, call.
const LINE = /^(\d+) +[\d.]+ (.*)$/;
const WHOLE = /^(\w+)\((.*)\) += (.*)$/;
const UNFINISHED = /^(\w+)\((.*?)(?: <unfinished \.\.\.>)$/;
const RESUMED = /^<\.\.\. (\w+) resumed>(.*)\) += (.*)$/;

/** The calls of a trace that came to an end, in the order in which they began. Everything else is passed over. */
export function parseTrace(text: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<number, Call>();
  for (const [line, content] of text.split("\n").entries()) {
    const [, id, rest = ""] = LINE.exec(content) ?? [];
    const thread = Number(id);
    const resumed = RESUMED.exec(rest);
    const begun = open.get(thread);
    if (begun && resumed?.[1] === begun.name) {
      open.delete(thread);
      calls.push({ ...begun, args: begun.args + resumed[2], result: resumed[3] as string, ended: line });
      continue;
    }
    const unfinished = UNFINISHED.exec(rest);
    if (unfinished) {
      const [, name = "", args = ""] = unfinished;
      open.set(thread, { thread, name, args, result: "", begun: line, ended: line });
      continue;
    }
    const [, name, args, result] = WHOLE.exec(rest) ?? [];
    if (name)
      calls.push({ thread, name, args: args as string, result: result as string, begun: line, ended: line });
  }
  return calls.sort((a, b) => a.begun - b.begun);
}

/** The texts that identify one answered request in a trace. */
export interface Exchange {
  /** Text that only this request carries. */
  request: string;
  /** Text that only its answer carries. */
  answer: string;
  /** Text that is in the rows this request wrote. */
  row: string;
  /** The files whose sync makes the rows durable: a part of their paths. */
  file: string;
  /** Such a file is then renamed into a folder like this, whose sync makes its name durable. */
  folder?: RegExp | undefined;
}

/**
 * Looks for what makes an answer durable: the request is read, its row is written to the file, a sync of that file
 * that begins after the write is over without error, then its rename and a sync of its folder, and only then is the
 * answer written.
 *
 * @returns what is missing, in words; undefined when it is as it must be
 */
export function unsynced(
  calls: Call[],
  { request, answer, row, file, folder }: Exchange,
): string | undefined {
  const read = calls.find(
    (call) => call.name.startsWith("re") && isSocket(call) && call.args.includes(request),
  );
  if (!read) return `no read of ${request}`;
  const sent = calls.find(
    (call) =>
      /^(write|send)/.test(call.name) &&
      isSocket(call) &&
      call.args.includes(answer) &&
      call.begun > read.ended,
  );
  if (!sent) return `no answer ${answer} after ${request} was read`;
  const between = calls.filter((call) => call.begun > read.ended && call.ended < sent.begun);
  const onFile = between.filter(({ args }) => args.includes(file) && !args.startsWith("-1"));
  const written = onFile.find(({ name, args }) => /^p?write/.test(name) && args.includes(row));
  if (!written) return `${row} was not written to ${file} between ${request} and its answer`;
  const synced = syncAfter(written, onFile);
  if (!synced) return `no sync of ${file} between the write of ${row} and the answer`;
  if (!folder) return undefined;
  const renamed = between.find(
    ({ name, args, begun }) => name.startsWith("rename") && args.includes(file) && begun > synced.ended,
  );
  if (!renamed) return `no rename of ${file} between its sync and the answer`;
  const ofFolder = between.filter(({ args }) => folder.test(args));
  return syncAfter(renamed, ofFolder)
    ? undefined
    : `no sync of the folder ${folder} after the rename into it`;
}

function syncAfter({ ended }: Call, calls: Call[]): Call | undefined {
  return calls.find(
    ({ name, result, begun }) => /^f(data)?sync$/.test(name) && result === "0" && begun > ended,
  );
}

function isSocket({ args }: Call): boolean {
  return /^\d+<(TCP|socket)/.test(args);
}
