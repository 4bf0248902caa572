import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { Caller } from "../../../lib/access/caller.ts";
import type { Operation } from "../../../lib/contract/contract.ts";
import { Fault } from "../../../lib/contract/faults.ts";
import type { Runtime } from "../../runtime.ts";
import type { StreamHandler } from "../gateway/exchange.ts";
import { INFO } from "../gateway/openapi/parts.ts";
import type { Offer, Session } from "./session.ts";
import { choose, type OperationTool, toolsOf } from "./tools.ts";

/** Names of this machine: a local page may be an MCP client. */
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface Loaded {
  handler: McpHttpHandler;
  tools: ReadonlyMap<string, OperationTool>;
}

/**
 * `POST /mcp`: one message of the Model Context Protocol, Streamable HTTP. Stateless between messages, so any node can
 * answer. The library is loaded with the first message: many nodes never get one.
 */
export function serveMcp(runtime: Runtime, operations: readonly Operation[]): StreamHandler {
  let loading: Promise<Loaded> | undefined;
  return async (exchange, { message, tools: chosen }, { ending }, perform) => {
    const { req, res, caller, request_id } = exchange;
    requireOwnOrigin(req, runtime.config.PUBLIC_URL);
    if (Array.isArray(message)) throw aBatch(message.length);
    loading ??= load(runtime, operations);
    const { handler, tools } = await loading.catch((err) => {
      // Retry the load with the next message: there may have been too many open files.
      loading = undefined;
      throw err;
    });
    const session: Session = {
      caller: caller as Caller,
      request_id,
      perform,
      tools: choose(tools, chosen as string | undefined),
      idempotency_key: req.headers["idempotency-key"] as string | undefined,
    };
    const authInfo = { token: "", clientId: "", scopes: [], extra: { session } };
    const response = await handler.fetch(webRequest(req, res), { authInfo, parsedBody: message });
    if (ending.aborted) res.setHeader("Connection", "close");
    await sendResponse(res, response);
  };
}

async function load({ blobs, log }: Runtime, operations: readonly Operation[]): Promise<Loaded> {
  const [{ createMcpHandler }, { serverFor }, { kindsOf }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("./server.ts"),
    import("./resources.ts"),
  ]);
  const offer: Offer = { operations, kinds: kindsOf(operations), blobs, version: INFO.version };
  const handler = createMcpHandler(({ authInfo }) => serverFor(offer, authInfo?.extra?.session as Session), {
    onerror: (err) => log.debug({ err }, "a message of MCP was refused"),
  });
  return { handler, tools: toolsOf(operations) };
}

/**
 * Requires a browser's page to belong to this installation or this machine: otherwise a page elsewhere could use DNS
 * rebinding to reach a server that it cannot access (MCP: Transports, Security warning).
 *
 * @throws Fault forbidden
 */
function requireOwnOrigin({ headers: { origin } }: IncomingMessage, publicUrl: string | null): void {
  if (origin === undefined) return;
  const host = URL.canParse(origin) ? new URL(origin).hostname : origin;
  if (LOCAL.has(host) || (publicUrl && new URL(publicUrl).hostname === host)) return;
  throw new Fault("forbidden", `Pages of ${host} are not served here: expected the origin in PUBLIC_URL.`);
}

function aBatch(length: number): Fault {
  const details = { field: "", value: `${length} messages`, expected: "one JSON-RPC message", example: {} };
  return new Fault("validation_failed", "The body: expected one JSON-RPC message, not a batch.", details);
}

/** Builds the request without its body, which was read already. It is aborted when the client disconnects. */
function webRequest(req: IncomingMessage, res: ServerResponse): Request {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://afferent${req.url}`, { method: "POST", headers, signal: gone.signal });
}

async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  if (res.destroyed) return;
  res.setHeader("Cache-Control", "no-store");
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return void res.end();
  // A client that disconnects during an answer is no error.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), res).catch(() => res.destroy());
}
