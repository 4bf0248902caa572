import { readFileSync } from "node:fs";
import { settle } from "../test/support/settle.ts";
import { cpuSeconds, type LoadResult, load } from "./lib/load.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { inTurns, median } from "./lib/stats.ts";
import { newTypedReceiver, type TypedReceiver, type Way } from "./lib/ways.ts";
import { fannedOut, newWorld, sampleEvent, type World } from "./lib/world.ts";

const COMPARED: Way[] = ["poll + ack", "next", "SSE", "push"];
const RECEIVERS = [1, 16];
const ROUNDS = 3;
const SECONDS = 8;
const CONNECTIONS = 64;
const MIN_SHARE = 0.98;
/** Until every receiver is waiting. */
const SETTLING_MS = 300;

export interface Consumed {
  perSecond: number;
  /** Share of the deliveries that had been received when the publishers ended. */
  share: number;
  /** CPU of the server, publishing included. */
  micros: number;
  /** Written to the disk, publishing included. */
  kilobytesAnEvent: number;
  published: number;
}

/** Deliveries and their cost while 64 publishers send as fast as they are answered. */
export const consumePart: Part = {
  name: "consume",
  title: "Receiving while publishing",
  note: `${CONNECTIONS} publishers of single events for ${SECONDS} seconds, each event for all receivers. \`poll + ack\` acknowledges each
page before it asks for the next, \`next\` does both by one request, \`SSE\` acknowledges in the background. Publishing is
included in the server's CPU and in what it writes; medians of ${ROUNDS} rounds.`,
  async run() {
    const rows: Row[] = [];
    for (const receivers of RECEIVERS) {
      const world = await newWorld({ PUSH_ALLOW_PRIVATE: "true" });
      try {
        const groups = await Promise.all(
          COMPARED.map((way, i) => groupOf(world, `com.example.way${i}`, way, receivers)),
        );
        const measured = await inTurns(
          ROUNDS,
          groups.map((group, i) => () => consume(world, COMPARED[i] as Way, group)),
        );
        for (const [i, way] of COMPARED.entries())
          rows.push(...rowsOf(way, receivers, measured[i] as Consumed[]));
      } finally {
        await world.stop();
      }
    }
    return rows;
  },
};

export function groupOf(world: World, type: string, way: Way, receivers: number): Promise<TypedReceiver[]> {
  return Promise.all(Array.from({ length: receivers }, () => newTypedReceiver(world, type, way)));
}

/** Measures one round of a group of receivers of one type. */
export async function consume(
  world: World,
  way: Way,
  group: TypedReceiver[],
  duration = SECONDS,
): Promise<Consumed> {
  const [{ type }] = group as [TypedReceiver];
  const pid = world.server.pid();
  const over = new AbortController();
  let [received, lastAt] = [0, 0];
  const count = () => {
    received++;
    lastAt = performance.now();
  };
  const receiving = Promise.all(group.map(({ receive }) => receive(count, over.signal)));
  await new Promise((next) => setTimeout(next, SETTLING_MS));
  const { accepted } = await world.counts();
  const before = {
    cpu: cpuSeconds(pid),
    written: writtenBytes(pid),
    acknowledged: await acknowledged(world),
  };
  let [ended, atEnd] = [0, 0];
  const { requests, seconds }: LoadResult = await load(pid, publishers(world, type, duration), async () => {
    [ended, atEnd] = [performance.now(), received];
  });
  // More are accepted than were answered: some were under way when the publishers ended.
  await new Promise((next) => setTimeout(next, SETTLING_MS));
  await fannedOut(world);
  const published = (await world.counts()).accepted - accepted;
  const due = published * group.length;
  await settle(() => received >= due, { within: 120_000, what: "every delivery" });
  const perSecond = due / (seconds + Math.max(0, lastAt - ended) / 1000);
  over.abort();
  await receiving;
  await settle(async () => (await acknowledged(world)) - before.acknowledged >= due, { within: 60_000 });
  const result = {
    perSecond,
    // Deliveries of events that are not answered yet make it no more than all.
    share: Math.min(1, atEnd / (requests * group.length)),
    micros: ((cpuSeconds(pid) - before.cpu) / due) * 1e6,
    kilobytesAnEvent: (writtenBytes(pid) - before.written) / published / 1024,
    published: published / duration,
  };
  progress(`${way}, ${group.length} receivers: ${shown(result)}`);
  return result;
}

function publishers({ server, token }: World, type: string, duration: number) {
  return {
    url: `${server.url}/events`,
    method: "POST" as const,
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(sampleEvent("[<id>]", type)),
    connections: CONNECTIONS,
    duration,
    idReplacement: true,
  };
}

async function acknowledged({ server }: World): Promise<number> {
  const text = await (await fetch(`${server.root}/metrics`)).text();
  return Number(/^sensorium_deliveries_acknowledged_total (\d+)/m.exec(text)?.[1] ?? 0);
}

/** Bytes that a process has caused to be written to the disk (proc(5), io). */
function writtenBytes(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

function shown({ perSecond, share, micros, kilobytesAnEvent, published }: Consumed): string {
  const percent = (share * 100).toFixed(1);
  return `${perSecond.toFixed(0)} a second, ${percent} %, ${micros.toFixed(0)} µs, ${kilobytesAnEvent.toFixed(1)} kB an event (${published.toFixed(0)} published a second)`;
}

function rowsOf(way: Way, receivers: number, measured: Consumed[]): Row[] {
  const of = (pick: (each: Consumed) => number) => median(measured.map(pick));
  const share = of((each) => each.share);
  const whose = `${way}, ${receivers === 1 ? "1 receiver" : `${receivers} receivers`}`;
  return [
    {
      what: `${whose}: share received while publishing`,
      figure: `${(share * 100).toFixed(1)} %`,
      ...(way === "next" && { target: `≥ ${MIN_SHARE * 100} %`, met: share >= MIN_SHARE }),
    },
    {
      what: `${whose}: deliveries a second / server CPU each / written an event`,
      figure: `${of((each) => each.perSecond).toFixed(0)} / ${of((each) => each.micros).toFixed(0)} µs / ${of((each) => each.kilobytesAnEvent).toFixed(1)} kB`,
    },
    { what: `${whose}: published a second`, figure: of((each) => each.published).toFixed(0) },
  ];
}
