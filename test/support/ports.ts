import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports of systems (Linux: from 32,768; others: from 49,152). */
const FIRST = 20_000;
const LAST = 32_000;

/**
 * A port of 127.0.0.1 that nobody listens on. Nobody is given it by the system either: it is free until it is used, and
 * again while a server that had it is away.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
