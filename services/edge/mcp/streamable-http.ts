import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../../lib/contract/faults.ts";
import type { Output } from "../gateway/answer/output.ts";

/** Names of this machine: a local page may be an MCP client. */
const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Requires a browser's page to belong to this installation or this machine: otherwise a page elsewhere could use DNS
 * rebinding to reach a server that it cannot access (MCP: Transports, Security warning).
 *
 * @throws Fault forbidden
 */
export function requireOwnOrigin({ headers: { origin } }: IncomingMessage, publicUrl: string | null): void {
  if (origin === undefined) return;
  const host = URL.canParse(origin) ? new URL(origin).hostname : origin;
  if (LOCAL.has(host) || (publicUrl && new URL(publicUrl).hostname === host)) return;
  throw new Fault(
    "forbidden",
    `Origin ${host} is not allowed: expected the host of PUBLIC_URL, or this machine.`,
  );
}

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

/** Builds the request without its body, which was read already. It is aborted when the client disconnects. */
export function webRequest(req: IncomingMessage, res: ServerResponse): Request {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const headers = Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Request(`http://sensorium${req.url}`, { method: "POST", headers, signal: gone.signal });
}

export async function sendResponse(res: ServerResponse, output: Output, response: Response): Promise<void> {
  if (res.destroyed) return;
  res.setHeader("Cache-Control", "no-store");
  res.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return output.end();
  for await (const chunk of response.body) {
    // A client that disconnects during an answer is no error.
    if (res.destroyed) return;
    await output.write(chunk);
  }
  output.end();
}
