import { randomInt } from "node:crypto";
import { createSocket, type Socket } from "node:dgram";
import { createServer } from "node:net";

/** Below the ephemeral ports of systems (Linux: from 32,768; others: from 49,152). */
const FIRST = 20_000;
const LAST = 32_000;

/** The UDP sockets that hold the numbers this process was given. */
const held: Socket[] = [];

/**
 * A port of 127.0.0.1 that nobody listens on. It is this process's as long as it lives: no other call returns it, in
 * this process or another, before a server has it or while that server is away. The system gives it to nobody.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if ((await hold(port)) && (await isFree(port))) return port;
  }
}

/** Marks the number as taken: the UDP port of the same number is used by nobody else, and ends with the process. */
function hold(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const mark = createSocket("udp4").once("error", (error) => resolveInUse(error, resolve, reject));
    mark.bind({ address: "127.0.0.1", port, exclusive: true }, () => {
      held.push(mark.unref());
      resolve(true);
    });
  });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", (error) => resolveInUse(error, resolve, reject));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

function resolveInUse(
  error: NodeJS.ErrnoException,
  resolve: (isOurs: false) => void,
  reject: (error: Error) => void,
): void {
  if (error.code === "EADDRINUSE") resolve(false);
  else reject(error);
}
