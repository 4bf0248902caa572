import { join } from "node:path";
import type { Options } from "autocannon";
import { startChild } from "../test/support/child.ts";
import { type LoadResult, load } from "./lib/load.ts";
import { type Part, progress, type Row } from "./lib/report.ts";
import { commitMilliseconds, median } from "./lib/stats.ts";
import { EVENT_TYPE, fannedOut, newReceiver, newWorld, sampleEvent, type World } from "./lib/world.ts";

const ROUNDS = 5;
const SECONDS = 5;
const CONNECTIONS = 64;
const BATCH = 100;

/** Durable single publish with one matching receiver, as a ratio to a route that does nothing. */
export const publishPart: Part = {
  name: "publish",
  title: "Durable publish, one event a request",
  async run() {
    const world = await newWorld();
    const baseline = await startBaseline();
    try {
      await newReceiver(world, EVENT_TYPE);
      const commit = commitMilliseconds(world.server.dataDir);
      const stock: LoadResult[] = [];
      const ours: LoadResult[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        stock.push(await load(baseline.pid, singles(baseline.url)));
        ours.push(
          await load(world.server.pid(), singles(world.server.url, world.token), () => fannedOut(world)),
        );
        progress(`publish ${round + 1}/${ROUNDS}: stock ${rate(stock[round])}, ours ${rate(ours[round])}`);
      }
      return publishRows(stock, ours, commit);
    } finally {
      await baseline.stop();
      await world.stop();
    }
  },
};

function publishRows(stock: LoadResult[], ours: LoadResult[], commit: number): Row[] {
  const failed = ours.filter(({ statuses, errors }) => errors > 0 || Object.keys(statuses).join() !== "202");
  if (failed.length) throw new Error(`not every publish was answered 202: ${JSON.stringify(failed[0])}`);
  const of = (results: LoadResult[], pick: (result: LoadResult) => number) => median(results.map(pick));
  const stockRate = of(stock, (r) => r.requestsPerSecond);
  const ourRate = of(ours, (r) => r.requestsPerSecond);
  // Per round: the machine's other work varies, and affects both servers of a round alike.
  const ratio = median(ours.map((r, i) => r.requestsPerSecond / (stock[i] as LoadResult).requestsPerSecond));
  return [
    { what: "stock moleculer-web, POST that does nothing", figure: `${stockRate.toFixed(0)} req/s` },
    { what: "durable publish, 64 connections, one receiver", figure: `${ourRate.toFixed(0)} req/s` },
    {
      what: "ratio, median of the rounds'",
      figure: ratio.toFixed(2),
      target: "≥ 0.4 (aim 0.6)",
      met: ratio >= 0.4,
    },
    { what: "p50 / p99 of a publish", figure: `${of(ours, (r) => r.p50)} / ${of(ours, (r) => r.p99)} ms` },
    { what: "commit", figure: `${commit.toFixed(2)} ms` },
    {
      what: "server CPU a request, stock / ours (fan-out included)",
      figure: `${of(stock, (r) => r.serverMicrosPerRequest).toFixed(0)} / ${of(ours, (r) => r.serverMicrosPerRequest).toFixed(0)} µs`,
    },
    {
      what: "cores the generator used, stock / ours",
      figure: `${of(stock, (r) => r.generatorCores).toFixed(2)} / ${of(ours, (r) => r.generatorCores).toFixed(2)}`,
    },
  ];
}

/** Batches of 100 events with one receiver each; at the end all fan-out is complete. */
export const batchPart: Part = {
  name: "batch",
  title: "Durable publish, 100 events a request",
  async run() {
    const world = await newWorld();
    try {
      await newReceiver(world, EVENT_TYPE);
      const results: LoadResult[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const result = await load(world.server.pid(), batches(world), () => fannedOut(world));
        results.push(result);
        progress(
          `batch ${round + 1}/${ROUNDS}: ${events(result).toFixed(0)} events/s, lag ${result.finishedAfter.toFixed(0)} ms`,
        );
      }
      return batchRows(results);
    } finally {
      await world.stop();
    }
  },
};

function batchRows(results: LoadResult[]): Row[] {
  const perSecond = median(results.map(events));
  const lag = median(results.map((r) => r.finishedAfter));
  const cpu = median(results.map((r) => r.serverMicrosPerRequest / BATCH));
  return [
    {
      what: "events a second, accepted",
      figure: perSecond.toFixed(0),
      target: "≥ 15,000",
      met: perSecond >= 15_000,
    },
    {
      what: "fan-out lag at the end",
      figure: `${lag.toFixed(0)} ms`,
      target: "≤ 1,000 ms",
      met: lag <= 1000,
    },
    { what: "server CPU an event (publish and fan-out)", figure: `${cpu.toFixed(0)} µs` },
    { what: "cores the generator used", figure: median(results.map((r) => r.generatorCores)).toFixed(2) },
  ];
}

const events = (result: LoadResult) => (result.requests * BATCH) / result.seconds;
const rate = (result: LoadResult | undefined) => `${result?.requestsPerSecond.toFixed(0)} req/s`;

function singles(url: string, token?: string): Options {
  return post(url, "application/json", JSON.stringify(sampleEvent("[<id>]")), CONNECTIONS, token);
}

function batches({ server, token }: World): Options {
  const body = JSON.stringify(Array.from({ length: BATCH }, (_, i) => sampleEvent(`${i}-[<id>]`)));
  return post(server.url, "application/cloudevents-batch+json", body, 8, token);
}

/** `[<id>]` in a body becomes a new id in every request. */
function post(url: string, type: string, body: string, connections: number, token?: string): Options {
  const headers: Record<string, string> = { "content-type": type };
  if (token) headers.authorization = `Bearer ${token}`;
  return {
    url: `${url}/events`,
    method: "POST",
    headers,
    body,
    connections,
    duration: SECONDS,
    idReplacement: true,
  };
}

async function startBaseline() {
  const child = await startChild(process.execPath, [join(import.meta.dirname, "lib/baseline.ts")]);
  const [url] = await child.find(/http:\S+/, 10_000);
  return { url, pid: child.pid, stop: () => child.end("SIGTERM", 10_000) };
}
