import { agentToken, api } from "../test/support/http.ts";
import { Cluster } from "./lib/cluster.ts";
import { type Part, progress, type Row } from "./lib/report.ts";

const WORKERS = [1, 2, 4];
const PUSHED = 1500;
const AT_ONCE = 16;
/** Until new nodes have found each other. */
const SETTLE_MS = 12_000;
const SECONDS = 24;
const SHOWN = 6;

/** Statements of a cluster to the record while nothing happens. */
export const restingPart: Part = {
  name: "resting",
  title: "A cluster at rest",
  note: `One gateway and one to four workers as processes on one machine, nothing published. Each figure is the number of
commands that all nodes together send to MongoDB, most frequent ones in brackets; it does not depend on the machine.`,
  async run() {
    const cluster = await Cluster.start({ counted: true, more: { PUSH_ALLOW_PRIVATE: "true" } });
    try {
      const rows: Row[] = [];
      for (const workers of WORKERS) {
        await cluster.scale(workers);
        rows.push(await resting(cluster, `${workers} workers`));
      }
      await cluster.scale(2);
      await addPushed(cluster);
      rows.push(await resting(cluster, `2 workers, ${PUSHED} agents with push delivery`));
      return rows;
    } finally {
      await cluster.stop();
    }
  },
};

async function addPushed({ nodes: { gateway } }: Cluster): Promise<void> {
  const admin = api(gateway, await agentToken(gateway, gateway.credentials.agent.api_key));
  for (let n = 0; n < PUSHED; n += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, PUSHED - n) }, (_, i) => `pushed ${n + i}`);
    const pushed = { delivery_mode: "push", delivery_endpoint: "http://127.0.0.1:9/" };
    const answers = await Promise.all(names.map((name) => admin.post("/agents", { name, ...pushed })));
    for (const { status } of answers) if (status !== 201) throw new Error(`POST /agents answered ${status}`);
  }
}

async function resting({ way }: Cluster, what: string): Promise<Row> {
  if (!way) throw new Error("an external MONGO_URL cannot be counted");
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(SETTLE_MS);
  const before = new Map(way.counts());
  await wait(SECONDS * 1000);
  const counts = [...way.counts()]
    .map(([name, count]) => [name, (count - (before.get(name) ?? 0)) / SECONDS] as const)
    .sort(([, a], [, b]) => b - a);
  const all = counts.reduce((sum, [, each]) => sum + each, 0);
  progress(
    `  ${what}: ${counts
      .filter(([, n]) => n > 0)
      .map(([name, n]) => `${name} ${n.toFixed(2)}`)
      .join(", ")}`,
  );
  const shown = counts.slice(0, SHOWN).map(([name, each]) => `${name} ${each.toFixed(2)}`);
  return { what: `${what}: statements/s`, figure: `${all.toFixed(1)} (${shown.join(", ")})` };
}
