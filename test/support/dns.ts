import { createSocket, type RemoteInfo } from "node:dgram";
import { newHostResolver } from "../../services/outgoing.ts";

const resolver = newHostResolver([]);

/** As connectors of the product resolve a host. */
export const resolveHost = (host: string) => resolver.resolve(host, { tenant_id: "tn_test", caller: "test" });

export interface NameServer extends AsyncDisposable {
  /** The value of `DNS_SERVERS`. */
  address: string;
  /** Names that were asked for, as often as they were. */
  asked: string[];
  stop(): Promise<void>;
}

const HEADER = 12;
const A = 1;

/**
 * A real name server on a free port of 127.0.0.1. It answers 127.0.0.1 for names that begin with `here.`, that there is no
 * such name for those that begin with `nowhere.`, and nothing at all for others.
 */
export async function startNameServer(ttlSeconds = 60): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    const { name, type, end } = questionOf(query);
    asked.push(name);
    if (name.startsWith("here.")) reply(query, end, from, type === A ? [127, 0, 0, 1] : null, 0);
    if (name.startsWith("nowhere.")) reply(query, end, from, null, 3);
  });
  function reply(query: Buffer, end: number, from: RemoteInfo, address: number[] | null, code: number): void {
    const answer = Buffer.from(query.subarray(0, end));
    answer.writeUInt16BE(0x8180 | code, 2);
    answer.writeUInt16BE(address ? 1 : 0, 6);
    answer.writeUInt32BE(0, 8);
    const record = Buffer.alloc(address ? 16 : 0);
    if (address) {
      // The name of the question, type A, class IN.
      record.writeUInt32BE(0xc00c0001);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(ttlSeconds, 6);
      record.writeUInt16BE(address.length, 10);
      record.set(address, 12);
    }
    socket.send(Buffer.concat([answer, record]), from.port, from.address);
  }
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${socket.address().port}`;
  const stop = () => new Promise<void>((resolve) => socket.close(() => resolve()));
  return { address, asked, stop, [Symbol.asyncDispose]: stop };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER;
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), end: at + 5 };
}
