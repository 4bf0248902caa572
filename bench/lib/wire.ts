import { startProxy } from "../../test/support/proxy.ts";

/** A proxy to a local MongoDB that counts commands. */
export interface CountedWay {
  port: number;
  /** Commands so far by `<command> <collection>`; each is a round trip. */
  counts(): ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Forwards connections to a port of 127.0.0.1 and reads the commands of MongoDB's wire protocol. */
export async function countedWay(to: number): Promise<CountedWay> {
  const counts = new Map<string, number>();
  const count = (command: string) => counts.set(command, (counts.get(command) ?? 0) + 1);
  const { port, stop } = await startProxy(to, () => {
    const frames = new Frames(count);
    return (bytes) => frames.pass(bytes);
  });
  return { port, counts: () => counts, stop };
}

const OP_MSG = 2013;
const OP_CODE_AT = 12;
/** After the header, the flags, the section's kind and its document's length: the first field's type. */
const FIRST_FIELD_AT = 25;
const STRING = 2;
/** Enough of a frame to contain a command and the name of a collection. */
const HEAD_BYTES = 160;

/** Frames of a stream: a length, which counts itself, and as many bytes. */
class Frames {
  readonly #report: (command: string) => void;
  /** The beginning of a frame that is still incomplete. */
  #head = Buffer.alloc(0);
  /** Bytes to come of a frame whose beginning was read. */
  #left = 0;

  constructor(tell: (command: string) => void) {
    this.#report = tell;
  }

  pass(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length) {
      const skipped = Math.min(this.#left, rest.length);
      this.#left -= skipped;
      rest = rest.subarray(skipped);
      if (this.#left > 0 || rest.length === 0) return;
      const before = this.#head.length;
      this.#head = Buffer.concat([this.#head, rest.subarray(0, HEAD_BYTES - before)]);
      const length = this.#head.length >= 4 ? this.#head.readInt32LE(0) : HEAD_BYTES;
      const wanted = Math.min(length, HEAD_BYTES);
      if (this.#head.length < wanted) return;
      this.#read(this.#head.subarray(0, wanted));
      rest = rest.subarray(wanted - before);
      this.#head = Buffer.alloc(0);
      this.#left = length - wanted;
    }
  }

  #read(head: Buffer): void {
    if (head.readInt32LE(OP_CODE_AT) !== OP_MSG) return;
    const end = head.indexOf(0, FIRST_FIELD_AT + 1);
    const command = head.toString("utf8", FIRST_FIELD_AT + 1, end);
    const isNamed = head[FIRST_FIELD_AT] === STRING;
    const name = isNamed ? head.toString("utf8", end + 5, head.indexOf(0, end + 5)) : "";
    this.#report(`${command} ${name}`);
  }
}
