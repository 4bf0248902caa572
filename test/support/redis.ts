import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { freePort } from "./ports.ts";

export interface RedisServer {
  url: string;
  pid(): number;
  /** SIGKILL: what it counted is gone. */
  kill(): Promise<void>;
  /** Again, on the same port. */
  start(): Promise<void>;
  /** Lets it neither answer nor go away until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  stop(): Promise<void>;
}

/**
 * Starts a Redis without persistence on a free port of 127.0.0.1, with more of its options; the test file says `@needs
 * redis`.
 */
export async function startRedis(more: string[] = [], port?: number): Promise<RedisServer> {
  port ??= await freePort();
  const folder = await mkdtemp(join(tmpdir(), "sensorium-redis-"));
  const settings = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder, ...more];
  const start = async () => {
    const child = await startChild("redis-server", settings);
    await child.find(/Ready to accept connections/);
    return child;
  };
  let child = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    pid: () => child.pid,
    kill: async () => void (await child.end("SIGKILL")),
    start: async () => {
      child = await start();
    },
    pause: () => child.pause(),
    resume: () => child.resume(),
    stop: async () => {
      await child.end("SIGKILL");
      await rm(folder, { recursive: true });
    },
  };
}
