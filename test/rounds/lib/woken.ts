import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../../packages/client/index.ts";
import { newAgent, newCli, type Running } from "../../support/cli.ts";
import { startServer } from "../../support/server.ts";
import { settle } from "../../support/settle.ts";
import { seeded } from "./random.ts";

const KEYS = 5;
const CONCURRENCY = 4;
const TYPE = "com.example.woken";
/** Attempts: a worker that is killed uses one up. */
const MANY = 50;
/** Between two kills. */
const PAUSE_MS = [200, 2_500] as const;

/** How a command treats the first attempt of an event. */
const MANNERS = ["ends", "ends", "ends", "fails", "hangs", "dies", "shouts"] as const;

/** Handles an event: its last act is a line in the ledger. */
const COMMAND = `
import { appendFileSync, readFileSync } from "node:fs";
const { subject, data } = JSON.parse(readFileSync(0, "utf8"));
if (process.env.SENSORIUM_ATTEMPT === "1") {
  if (data.manner === "fails") process.exit(1);
  if (data.manner === "hangs") await new Promise((never) => setTimeout(never, 600_000));
  if (data.manner === "dies") process.kill(process.pid, "SIGKILL");
  if (data.manner === "shouts") process.stdout.write("x".repeat(5_000_000));
}
appendFileSync(process.argv[2], subject + " " + data.n + "\\n");
`;

export interface Woken {
  events: number;
  /** Of the server or the worker. */
  kills: number;
  seed: number;
  say(line: string): void;
}

/**
 * Events with a few ordering keys wake a command that fails, hangs, is killed and prints 5 MB, while the server and the worker
 * are killed. Returns what is lost or out of order; a repetition directly after the first is neither.
 */
export async function runWoken({ events, kills, seed, say }: Woken): Promise<string[]> {
  const random = seeded(seed);
  const folder = await mkdtemp(join(tmpdir(), "sensorium-woken-"));
  const [script, ledger] = [join(folder, "command.mjs"), join(folder, "ledger")];
  await Promise.all([writeFile(script, COMMAND), writeFile(ledger, "")]);
  const server = await startServer();
  const cli = newCli({ SENSORIUM_URL: server.root });
  try {
    const admin = createClient({ url: server.url, apiKey: server.credentials.agent.api_key });
    const { id, client, env } = await newAgent(server, admin, TYPE, ["receive"], { retry_budget: MANY });
    await client.interests.create({
      ...{ agent_id: id, event_type: TYPE, ordering_key: "subject", retry_delays_seconds: [1] },
    });
    const options = ["--concurrency", String(CONCURRENCY), "--timeout", "2s", "--grace", "1s"];
    const start = () => cli.spawn(["work", ...options, "--", process.execPath, script, ledger], { env });
    const all = Array.from({ length: events }, (_, n) => ({
      ...{ type: TYPE, source: "urn:woken", id: String(n), subject: `key${n % KEYS}` },
      data: { n, manner: random.pick(MANNERS) },
    }));
    for (const event of all) await admin.publish(event);
    say(`${events} events are accepted`);
    let worker: Running = start();
    for (let kill = 0; kill < kills; kill++) {
      await new Promise((resolve) => setTimeout(resolve, random.int(...PAUSE_MS)));
      const isServer = random.chance(0.4);
      say(`${await handled(ledger)} handled; SIGKILL to the ${isServer ? "server" : "worker"}`);
      if (isServer) {
        await server.kill();
        await server.restart();
      } else {
        await worker.end("SIGKILL");
        worker = start();
      }
    }
    const isOver = async () => (await handled(ledger)) >= events;
    // Missing events are findings.
    await settle(isOver, { within: 120_000 + events * 1_000, what: "every event" }).catch(() => {});
    await worker.end();
    return findingsIn(await linesOf(ledger), events);
  } finally {
    await cli.remove();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

const linesOf = async (ledger: string) => (await readFile(ledger, "utf8")).split("\n").slice(0, -1);
const handled = async (ledger: string) => new Set(await linesOf(ledger)).size;

function findingsIn(lines: string[], events: number): string[] {
  const findings: string[] = [];
  const last = new Map<string, number>();
  for (const line of lines) {
    const [key = "", n = ""] = line.split(" ");
    const before = last.get(key) ?? -1;
    if (Number(n) < before) findings.push(`${n} of ${key} was handled after ${before}`);
    last.set(key, Math.max(before, Number(n)));
  }
  const seen = new Set(lines.map((line) => Number(line.split(" ")[1])));
  for (let n = 0; n < events; n++) if (!seen.has(n)) findings.push(`${n} is lost`);
  return findings;
}
