import { agentToken, api } from "../test/support/http.ts";
import { newReceiver } from "../test/support/receiver.ts";
import { settle } from "../test/support/settle.ts";
import { openStream, type Stream } from "../test/support/stream.ts";
import { Cluster } from "./lib/cluster.ts";
import { newClient } from "./lib/http.ts";
import type { Part, Row } from "./lib/report.ts";

const WAITING = 300;
/** Creating agents at once would measure how long that takes. */
const LANES = 8;
/** Until what a request costs by itself is over. */
const SETTLE_MS = 8000;
/** Over the end of each poll and the beginning of the next. */
const COUNT_MS = 60_000;
/** In that time: the call and the answer of two polls of 30 s. */
const MESSAGES_OF_POLLS = 4;
/** A gateway's call every 2 s, which checks the callers of all of them together. */
const MESSAGES_OF_CHECKS = 0.3;

interface Counted {
  statements: number;
  messages: number;
}

/** The cost of requests that wait for deliveries, when there are none. */
export const waitingPart: Part = {
  name: "waiting",
  title: "Waiting receivers",
  note: `One gateway and one worker. The work without receivers is subtracted; the counts are the same on every
machine. While each waiting request checked its caller and looked for deliveries by itself, polls cost 6.4 statements and 0.2
messages, streams at least 9.5 and 6.2.`,
  async run() {
    const cluster = await Cluster.start({ counted: true });
    try {
      const tokens = await receivers(cluster);
      const { url } = cluster.nodes.gateway;
      await nextMinute();
      const rest = await counted(cluster);
      const polls = tokens.map((token) => newClient(url, token));
      await nextMinute();
      let isOver = false;
      const asking = polls.map(async (poll) => {
        while (!isOver) await poll.ask("GET", "/delivery/poll?wait=30");
      });
      const asked = Promise.allSettled(asking);
      const polling = await counted(cluster);
      isOver = true;
      await asked;
      for (const poll of polls) poll.close();
      await nextMinute();
      const streams = await Promise.all(tokens.map((token) => openStream(`${url}/delivery/stream`, token)));
      const reading = streams.map(readAll);
      const streaming = await counted(cluster);
      for (const stream of streams) stream.close();
      await Promise.all(reading);
      return [...rowsOf("polls", polling, rest, MESSAGES_OF_POLLS), ...rowsOf("streams", streaming, rest, 0)];
    } finally {
      await cluster.stop();
    }
  },
};

/** Reads a stream to its end: one that nobody reads is closed once its response is forgotten. */
async function readAll({ chunks }: Stream): Promise<void> {
  for await (const _ of chunks);
}

/** Returns the tokens of as many agents. */
async function receivers(cluster: Cluster): Promise<string[]> {
  const { gateway } = cluster.nodes;
  // The gateway may not see the worker yet.
  const token = await settle(() => agentToken(gateway, gateway.credentials.agent.api_key));
  const admin = api(gateway, token);
  const tokens: string[] = [];
  const lane = async () => {
    while (tokens.length < WAITING) tokens.push((await newReceiver(gateway, admin, "waits")).token);
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return tokens.slice(0, WAITING);
}

/** Sweeps that run once a minute then fall into all measurements, or into none. */
const nextMinute = () => pause(60_000 - (Date.now() % 60_000));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function counted({ way, nodes }: Cluster): Promise<Counted> {
  const statements = () => [...(way?.counts().values() ?? [])].reduce((sum, n) => sum + n, 0);
  const messages = async () => (await nodes.nats.counts()).messages;
  await pause(SETTLE_MS);
  const before = { statements: statements(), messages: await messages() };
  await pause(COUNT_MS);
  return { statements: statements() - before.statements, messages: (await messages()) - before.messages };
}

/** @param own messages of the requests themselves, a minute */
function rowsOf(what: string, counts: Counted, rest: Counted, own: number): Row[] {
  const most = own + MESSAGES_OF_CHECKS;
  // Fewer than at rest are none.
  const perMinute = (n: number) => (Math.max(0, n) / WAITING) * (60_000 / COUNT_MS);
  const statements = perMinute(counts.statements - rest.statements);
  const messages = perMinute(counts.messages - rest.messages);
  return [
    {
      what: `statements a minute for each of ${WAITING} waiting ${what}`,
      figure: statements.toFixed(2),
      target: "≤ 1",
      met: statements <= 1,
    },
    {
      what: `NATS messages a minute for each of ${WAITING} waiting ${what}`,
      figure: messages.toFixed(2),
      target: `≤ ${most}`,
      met: messages <= most,
    },
  ];
}
