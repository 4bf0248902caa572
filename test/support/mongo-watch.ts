import { BSON, type Document } from "mongodb";
import { faultsOf } from "./mongo-rules.ts";
import { startProxy } from "./proxy.ts";

export interface Watch {
  /** The address to use instead of the server's. */
  url: string;
  /** Returns the commands that break a rule (mongo-rules.ts), each kind once. */
  faults(): string[];
  stop(): Promise<void>;
}

/**
 * Stands before a MongoDB of this machine, passes everything on, and looks at what is asked of it.
 *
 * @param see is shown every command
 */
export async function watchMongo(url: string, see?: (command: Document) => void): Promise<Watch> {
  const own = new URL(url);
  const faults = new Set<string>();
  let seen = 0;
  const look = (command: Document) => {
    seen++;
    see?.(command);
    for (const fault of faultsOf(command)) faults.add(fault);
  };
  const { port, stop } = await startProxy(Number(own.port), () => commandsIn(look));
  own.port = String(port);
  return { url: own.href, faults: () => (seen ? [...faults] : ["no command of MongoDB's was seen"]), stop };
}

const OP_MSG = 2013;
const OP_CODE_AT = 12;
const SECTIONS_AT = 20;
const CHECKSUM_BYTES = 4;

/** Reads the commands of MongoDB's wire protocol from the bytes of one connection, as they come. */
function commandsIn(tell: (command: Document) => void): (bytes: Buffer) => void {
  let parts: Buffer[] = [];
  let held = 0;
  return (bytes) => {
    parts.push(bytes);
    held += bytes.length;
    for (;;) {
      const [first] = parts;
      if (!first || held < 4) return;
      const start = first.length < 4 ? Buffer.concat(parts) : first;
      const length = start.readInt32LE(0);
      if (held < length) return;
      const all = parts.length === 1 ? first : Buffer.concat(parts);
      const frame = all.subarray(0, length);
      if (frame.readInt32LE(OP_CODE_AT) === OP_MSG) tell(commandOf(frame));
      parts = held > length ? [all.subarray(length)] : [];
      held -= length;
    }
  };
}

/** Returns a message's document, with the lists from its other sections. */
function commandOf(frame: Buffer): Document {
  const hasChecksum = (frame.readUInt32LE(SECTIONS_AT - 4) & 1) === 1;
  const end = frame.length - (hasChecksum ? CHECKSUM_BYTES : 0);
  const lists: Document = {};
  let command: Document = {};
  for (let at = SECTIONS_AT; at < end; ) {
    const kind = frame[at++];
    const size = frame.readInt32LE(at);
    const section = frame.subarray(at, at + size);
    if (kind === 0) command = BSON.deserialize(section);
    else Object.assign(lists, listOf(section));
    at += size;
  }
  return { ...command, ...lists };
}

function listOf(section: Buffer): Document {
  const nameEnd = section.indexOf(0, 4);
  const documents: Document[] = [];
  for (let at = nameEnd + 1; at < section.length; at += section.readInt32LE(at))
    documents.push(BSON.deserialize(section.subarray(at, at + section.readInt32LE(at))));
  return { [section.toString("utf8", 4, nameEnd)]: documents };
}
