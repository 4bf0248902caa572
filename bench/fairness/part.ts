import { setTimeout as pause } from "node:timers/promises";
import { startNameServer } from "../../test/support/dns.ts";
import { type Endpoint, startEndpoint } from "../../test/support/endpoint.ts";
import { startServer } from "../../test/support/server.ts";
import { cpuSeconds, residentMegabytes } from "../lib/load.ts";
import { type Part, progress, type Row } from "../lib/report.ts";
import { percentile } from "../lib/stats.ts";
import { Attack } from "./attack.ts";
import { ATTACKERS, type Attacker } from "./attackers.ts";
import { newTenant, OPERATOR_TOKEN, type Tenant } from "./tenants.ts";
import { pushTo, type Victim, victimsOf } from "./victims.ts";

const ROUNDS = 3;
const ALONE_MS = 5_000;
/** As long as an attacker has for its initial burst. */
const BURST_MS = 4_000;
const ATTACKED_MS = 5_000;
const WARM_MS = 2_000;
/** Each of the victim's agents stays under the shipped rate limit. */
const VICTIM_AGENTS = 30;
const MAX_RATIO = 1.2;
const MAX_BURST_RATIO = 2;
const MAX_MEGABYTES = 1000;

interface Window {
  times: number[];
  /** Statuses of refused requests. */
  refused: number[];
}

interface Measured {
  alone: Window;
  found: Window;
  attacked: Window;
}

/** One attacker per shared resource, with an ordinary key and the shipped limits, and one victim. */
export const fairnessPart: Part = {
  name: "fairness",
  title: "One attacker next to one victim, by resource",
  note:
    "Both with the shipped limits. p95 of the victim alone / in the first seconds of the attack / after them. The attacker " +
    "is a process of low priority on the same two cores as the server: it stands for another machine.",
  async run() {
    const names = await startNameServer();
    const endpoint = await startEndpoint();
    const env = {
      OPERATOR_TOKEN,
      PUSH_ALLOW_PRIVATE: "true",
      DNS_SERVERS: names.address,
      OUTPUT_EXPORT: "true",
    };
    const server = await startServer({ env: { LOG_LEVEL: "error", ...env } });
    try {
      const victim = await newTenant(server, "victim", VICTIM_AGENTS);
      const victims = await preparedVictims(victim, endpoint);
      // Before the first attack: afterwards this address may have no failed sign-ins left.
      const tenants: Tenant[] = [];
      for (const i of ATTACKERS.keys()) tenants.push(await newTenant(server, `attacker-${i}`, 1));
      const rows: Row[] = [];
      for (const [i, attacker] of ATTACKERS.entries()) {
        const tenant = tenants[i] as Tenant;
        const target = await attacker.prepare?.(tenant);
        const attack = new Attack(i, tenant, target);
        const rest = () => untilIdle(server.pid());
        rows.push(await measure({ attacker, attack, victim: victims[attacker.victim], own: victim, rest }));
        attack.end();
        tenant.close();
      }
      victim.close();
      const most = residentMegabytes(server.pid(), "VmHWM");
      rows.push({
        what: "memory of the server, most of all of them",
        figure: `${most.toFixed(0)} MB`,
        target: `< ${MAX_MEGABYTES} MB`,
        met: most < MAX_MEGABYTES,
      });
      return rows;
    } finally {
      await server.stop();
      await endpoint.stop();
      await names.stop();
    }
  },
};

/** Below this many cores for a while, the server is idle. */
const IDLE_CORES = 0.1;
const IDLE_MS = 2_000;
const LONGEST_REST_MS = 20_000;

/** Waits until the server has finished the work of the previous attacker. */
async function untilIdle(pid: number): Promise<void> {
  const until = performance.now() + LONGEST_REST_MS;
  let busy = true;
  while (busy && performance.now() < until) {
    const before = cpuSeconds(pid);
    await pause(IDLE_MS);
    busy = cpuSeconds(pid) - before > (IDLE_CORES * IDLE_MS) / 1000;
  }
}

async function preparedVictims(victim: Tenant, endpoint: Endpoint) {
  await pushTo(victim, endpoint.url);
  const { id } = await victim.admin.send("POST", "/outputs", {
    body: "# Report\n\nParcels go by freight.",
    scope: "institutional",
  });
  return victimsOf(victim, endpoint, id);
}

interface Match {
  attacker: Attacker;
  attack: Attack;
  victim: Victim;
  own: Tenant;
  /** Waits until the server is idle. */
  rest(): Promise<void>;
}

async function measure({ attacker, attack, victim, own, rest }: Match): Promise<Row> {
  const sum: Measured = { alone: none(), found: none(), attacked: none() };
  await rest();
  await measureVictim(victim, own, WARM_MS);
  for (let round = 0; round < ROUNDS; round++) {
    add(sum.alone, await measureVictim(victim, own, ALONE_MS));
    attack.start();
    add(sum.found, await measureVictim(victim, own, BURST_MS));
    add(sum.attacked, await measureVictim(victim, own, ATTACKED_MS));
    await attack.stop();
    await rest();
  }
  const row = toRow(attacker, victim, sum);
  progress(`fairness: ${row.what}: ${row.figure}`);
  return row;
}

const none = (): Window => ({ times: [], refused: [] });

function add(sum: Window, { times, refused }: Window): void {
  sum.times.push(...times);
  sum.refused.push(...refused);
}

/** Runs the victim's actions at its rate, by each of its agents in turn. */
async function measureVictim({ perSecond, act }: Victim, { agents }: Tenant, ms: number): Promise<Window> {
  const window = none();
  const until = performance.now() + ms;
  const running: Promise<void>[] = [];
  while (performance.now() < until) {
    const { client } = agents[turn++ % agents.length] as (typeof agents)[number];
    const started = performance.now();
    const one = act(client).then((status) => {
      window.times.push(performance.now() - started);
      if (status >= 400) window.refused.push(status);
    });
    running.push(one);
    await pause(1000 / perSecond);
  }
  await Promise.all(running);
  return window;
}

let turn = 0;

function toRow({ resource, does }: Attacker, { what }: Victim, { alone, found, attacked }: Measured): Row {
  const [a, b, c] = [alone, found, attacked].map(({ times }) => percentile(times, 0.95)) as [
    number,
    number,
    number,
  ];
  const refused = [...found.refused, ...attacked.refused];
  const statuses = refused.length ? ` (${[...new Set(refused)].join(", ")})` : "";
  const ratio = (x: number) => `${(x / a).toFixed(2)}×`;
  return {
    what: `${resource}: ${does}; victim: ${what}`,
    figure: `${a.toFixed(1)} / ${b.toFixed(1)} / ${c.toFixed(1)} ms (${ratio(b)}, ${ratio(c)}), ${refused.length} refused${statuses}`,
    target: `≤ ${MAX_BURST_RATIO}×, ≤ ${MAX_RATIO}×, 0`,
    met: b <= a * MAX_BURST_RATIO && c <= a * MAX_RATIO && refused.length === 0,
  };
}
