import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setPriority } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { newClient } from "../lib/http.ts";
import { ATTACKERS, type Attacker } from "./attackers.ts";
import type { Tenant } from "./tenants.ts";

/** A refused attacker sends its next request at once, but no faster than this. */
const STRIKES_PER_SECOND = 100;
/** An answer may take longer than the attack lasts. */
const TIMEOUT_MS = 10_000;
/** The attacker stands for another machine: it gets only the CPU that the server and the victim leave. */
const NICE = 10;

/** The tenant as the process needs it. */
interface Orders {
  attacker: number;
  url: string;
  token: string;
  personToken: string;
  target: string | undefined;
}

type Signal = "start" | "stop" | "stopped";

/** An attacker in a separate process, so that sending its requests does not delay the victim's. */
export class Attack {
  readonly #child: ChildProcess;

  constructor(attacker: number, { url, agents: [agent], person }: Tenant, target: string | undefined) {
    const token = agent?.client.token ?? "";
    const orders: Orders = { attacker, url, token, personToken: person.token, target };
    this.#child = fork(import.meta.filename, [JSON.stringify(orders)]);
    setPriority(this.#child.pid as number, NICE);
  }

  start(): void {
    this.#child.send("start" satisfies Signal);
  }

  async stop(): Promise<void> {
    this.#child.send("stop" satisfies Signal);
    await once(this.#child, "message");
  }

  end(): void {
    this.#child.kill();
  }
}

/** Strikes, refused or not, until the returned function is called. */
function startStrikes(
  { strike, hold, width }: Attacker,
  { url, token, personToken, target }: Orders,
): () => Promise<void> {
  let going = true;
  const [client, person] = [newClient(url, token), newClient(url, personToken)];
  const striker = { url, client, person, target };
  const end = hold?.(striker);
  const lanes = Array.from({ length: width }, async (_, i) => {
    // Spread over time: so many requests at once would take a moment even if they did nothing.
    await pause((1000 * i) / STRIKES_PER_SECOND);
    while (going) {
      await Promise.all([strike(striker).catch(() => null), pause((1000 * width) / STRIKES_PER_SECOND)]);
    }
  });
  return async () => {
    going = false;
    end?.();
    await Promise.race([Promise.all(lanes), pause(TIMEOUT_MS)]);
    client.close();
    person.close();
  };
}

function obey(orders: Orders): void {
  let stop: (() => Promise<void>) | undefined;
  process.on("message", async (signal: Signal) => {
    if (signal === "start") stop = startStrikes(ATTACKERS[orders.attacker] as Attacker, orders);
    else {
      await stop?.();
      process.send?.("stopped" satisfies Signal);
    }
  });
  process.on("disconnect", () => process.exit());
}

if (process.send && process.argv[1] === import.meta.filename) obey(JSON.parse(process.argv[2] as string));
