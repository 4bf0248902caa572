import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { serving } from "./serving.ts";

const CHECK_EVERY_MS = 250;
/** One slow answer of a busy machine takes nobody out. */
const CHECKS_TO_FALL = 2;
/** Of one connection, and not of the one in front of the balancer. */
const HOP_BY_HOP = new Set(["connection", "keep-alive", "transfer-encoding"]);

export interface Balancer {
  url: string;
  /** Those that requests go to. */
  inRotation(): string[];
  /** The fewest that were in rotation since `watch` was called. */
  fewest(): number;
  watch(): void;
  stop(): Promise<void>;
}

/**
 * Distributes requests among servers whose `/readyz` answers 200, in turn. What none has taken goes to the next; what one has
 * taken and not answered is answered with 502.
 *
 * @param roots addresses of the servers, which may be down
 */
export async function startBalancer(roots: readonly string[]): Promise<Balancer> {
  let ready: string[] = [];
  let fewest = 0;
  let turn = 0;
  let stopped = false;
  const check = async (root: string) => {
    for (let failed = 0; !stopped; ) {
      failed = (await statusOf(`${root}/readyz`)) === 200 ? 0 : failed + 1;
      const isReady = ready.includes(root) ? failed < CHECKS_TO_FALL : failed === 0;
      if (isReady !== ready.includes(root))
        ready = isReady ? [...ready, root] : ready.filter((each) => each !== root);
      fewest = Math.min(fewest, ready.length);
      await sleep(CHECK_EVERY_MS);
    }
  };
  const { url, close } = await serving(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return;
    const order = ready.map((_, i) => ready[(turn + i) % ready.length] as string);
    turn++;
    for (const root of order) {
      const outcome = await forward(root, incoming, body, outgoing);
      if (outcome === "done") return;
      if (outcome === "failed") break;
    }
    if (!outgoing.headersSent) outgoing.writeHead(502);
    outgoing.end();
  });
  const checks = roots.map(check);
  return {
    url: `${url}/v1`,
    inRotation: () => ready,
    fewest: () => fewest,
    watch: () => {
      fewest = ready.length;
    },
    stop: async () => {
      stopped = true;
      await Promise.all([close(), ...checks]);
    },
  };
}

async function statusOf(url: string): Promise<number | null> {
  try {
    const answer = await fetch(url);
    await answer.text();
    return answer.status;
  } catch {
    return null;
  }
}

/** Passes a request on, and its answer back. */
function forward(
  root: string,
  { method, url = "", headers }: IncomingMessage,
  body: Buffer,
  outgoing: ServerResponse,
): Promise<"done" | "untaken" | "failed"> {
  return new Promise((resolve) => {
    const passed = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
    const onward = request(root + url, { method, headers: passed, agent: false }, (answer) => {
      const shown = Object.entries(answer.headers).filter(([name]) => !HOP_BY_HOP.has(name));
      outgoing.writeHead(answer.statusCode as number, Object.fromEntries(shown));
      answer.pipe(outgoing);
      answer.once("end", () => resolve("done"));
      answer.once("error", () => resolve("failed"));
    });
    onward.once("error", (err: NodeJS.ErrnoException) =>
      resolve(err.code === "ECONNREFUSED" ? "untaken" : "failed"),
    );
    // Its caller has gone, or it is answered.
    outgoing.once("close", () => onward.destroy());
    onward.end(body);
  });
}
