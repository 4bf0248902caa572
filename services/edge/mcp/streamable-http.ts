import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, forbidden } from "../../../lib/contract/faults.ts";
import type { Output } from "../gateway/answer/output.ts";
import { UNTOUCHED } from "../gateway/streams/sse.ts";

/** Names of this machine: a local page may be an MCP client. */
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Requires a browser's page to belong to this installation or this machine: otherwise a page elsewhere could use DNS
 * rebinding to reach a server that it cannot access (MCP: Transports, Security warning). @throws Fault forbidden
 */
export function requireOwnOrigin({ headers: { origin } }: IncomingMessage, publicUrl: string | null): void {
  if (origin === undefined) return;
  const parsed = URL.canParse(origin) ? new URL(origin) : null;
  const isLocal = parsed !== null && /^https?:$/.test(parsed.protocol) && LOCAL.has(parsed.hostname);
  if (isLocal || (publicUrl && parsed?.origin === new URL(publicUrl).origin)) return;
  throw forbidden(
    `Origin ${origin.slice(0, 200)} is not allowed: expected that of PUBLIC_URL, with scheme and port, or this machine.`,
  );
}

/** Media types of answers, which a client has to accept. */
const ANSWERS = ["application/json", "text/event-stream"];

/** @throws Fault validation_failed for a batch of messages */
export function requireOneMessage(message: unknown): void {
  if (!Array.isArray(message)) return;
  const value = `${message.length} messages`;
  const details = { field: "", value, expected: "one JSON-RPC message", example: {} };
  throw new Fault(
    "validation_failed",
    `The body: expected one JSON-RPC message, got ${value}. Send each in its own request.`,
    details,
  );
}

/** Returns a message without null members of its params, which languages without absent members write. */
export function withoutNulls(message: unknown): unknown {
  if (typeof message !== "object" || message === null || !("params" in message)) return message;
  const { params, ...rest } = message;
  if (params === null) return rest;
  if (typeof params !== "object" || Array.isArray(params)) return message;
  return {
    ...rest,
    params: Object.fromEntries(Object.entries(params as object).filter(([, value]) => value !== null)),
  };
}

/**
 * Returns the refusal of an `initialize` that lacks what the protocol requires, which its implementation reports as an
 * internal error; null for others. Requests that name their revision in a header belong to those without `initialize`.
 */
export function invalidInitialize(message: unknown, { headers }: IncomingMessage): Response | null {
  const { method, id, params } = message as Record<string, Record<string, unknown> | undefined>;
  if (String(method) !== "initialize" || "mcp-protocol-version" in headers) return null;
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  const { name, version } = (clientInfo ?? {}) as Record<string, unknown>;
  if ([protocolVersion, name, version].every((each) => typeof each === "string") && capabilities) return null;
  const expected = "protocolVersion, capabilities, and clientInfo with name and version";
  const error = { code: -32602, message: `Invalid params: initialize needs ${expected}.` };
  return Response.json({ jsonrpc: "2.0", id: id ?? null, error });
}

/** Whether an Accept header allows a media type, by itself or by a range. */
function accepts(accept: string, type: string): boolean {
  const ranges = accept.split(",").map((each) => each.split(";")[0]?.trim().toLowerCase());
  return ["*/*", type.replace(/\/.*/, "/*"), type].some((each) => ranges.includes(each));
}

/** Builds the request without its body, which was read already. It is aborted when the client disconnects. */
export function webRequest(req: IncomingMessage, res: ServerResponse): Request {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  if (ANSWERS.every((type) => accepts(req.headers.accept || "*/*", type)))
    headers.push(["accept", ANSWERS.join(", ")]);
  return new Request(`http://sensorium${req.url}`, { method: "POST", headers, signal: gone.signal });
}

export async function sendResponse(res: ServerResponse, output: Output, response: Response): Promise<void> {
  if (res.destroyed) return;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  response.headers.set("Cache-Control", isStream ? UNTOUCHED : "no-store");
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return output.end();
  for await (const chunk of response.body) {
    // A client that disconnects during an answer is no error.
    if (res.destroyed) return;
    await output.write(chunk);
  }
  output.end();
}
