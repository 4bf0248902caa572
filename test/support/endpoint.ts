import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { freePort } from "./ports.ts";

export type Pushed = { headers: Record<string, string>; body: string; path: string; at: number };

export interface Endpoint extends AsyncDisposable {
  url: string;
  pushed: Pushed[];
  /** The most requests that were under way at once. */
  most(): number;
  /** Sets the answer to further requests; default 204. A number is a status. */
  answer(how: number | ((req: Pushed, res: ServerResponse) => void)): void;
  /** Closes it; `start` opens it again on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** A real receiver of pushes on a free port of 127.0.0.1. */
export async function startEndpoint(): Promise<Endpoint> {
  const pushed: Pushed[] = [];
  let how: Parameters<Endpoint["answer"]>[0] = 204;
  let underWay = 0;
  let most = 0;
  const port = await freePort();
  const open = async () => {
    const server = createServer(async (req, res) => {
      most = Math.max(most, ++underWay);
      res.once("close", () => underWay--);
      const push = await read(req);
      pushed.push(push);
      if (typeof how === "number") res.writeHead(how).end();
      else how(push, res);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    return server;
  };
  let server = await open();
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    pushed,
    most: () => most,
    answer(next) {
      how = next;
    },
    stop,
    [Symbol.asyncDispose]: stop,
    async start() {
      server = await open();
    },
  };
}

async function read(req: IncomingMessage): Promise<Pushed> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  return {
    ...{ headers: req.headers as Record<string, string>, body, path: req.url as string },
    at: performance.now(),
  };
}
