import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { type HttpContent, structuredContent, toBinaryMode } from "../lib/cloudevents/http.ts";
import { isFault } from "../lib/contract/faults.ts";
import { Agent as HttpAgent, request as httpRequest } from "../lib/http/node-http.ts";
import type { Share } from "../lib/queue/fair-queue.ts";
import { AddressRefused, hostOf, refusePrivate } from "./address-guard.ts";
import { type HostResolver, lookupOf } from "./host-resolver.ts";

/** What is pushed, and where to. */
interface Push {
  /** Who the look-up of the host is charged to. */
  share: Share;
  url: string;
  /** `webhook-id`: the same for every attempt. */
  id: string;
  /** The CloudEvent as JSON text. */
  envelope: string;
  /** In the CloudEvents binary mode, where the event can be written so. */
  binary?: boolean;
  /** `whsec_…`, all that are valid now: one signature each. */
  secrets: string[];
  /** W3C trace context that the endpoint continues. */
  traceparent?: string | undefined;
  signal?: AbortSignal;
}

/**
 * - `answered`: any HTTP status; `retry_after_seconds` where the endpoint asked to wait.
 * - `unreachable`: refused, no route, no such name, no answer to the look-up or to the connection: nothing got there.
 * - `failed`: anything else: too slow, broken off, no TLS, an address that may not be pushed to.
 * - `aborted`: by our own signal.
 */
export type PushResult =
  | { kind: "answered"; status: number; retry_after_seconds: number | null }
  | { kind: "unreachable"; reason: string }
  | { kind: "failed"; reason: string }
  | { kind: "aborted" };

const UNREACHABLE = new Set([
  ...["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ECONNTIMEOUT"],
  // Of the look-up.
  ...["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ETIMEOUT", "ESERVFAIL", "EREFUSED", "EBADNAME"],
]);

/** An endpoint that does not take a connection within so long is unreachable. */
const CONNECT_MS = 5_000;

/** Of an answer's body no more is read: only its status counts. */
const MAX_ANSWER_BYTES = 4096;

interface PushSenderOptions {
  resolver: HostResolver;
  allowPrivate: boolean;
  timeoutMs: number;
}

/** Sends events to endpoints, signed as Standard Webhooks. Never follows a redirect. */
export class PushSender {
  readonly #options: PushSenderOptions;
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 8, timeout: 60_000 });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: 8, timeout: 60_000 });

  constructor(options: PushSenderOptions) {
    this.#options = options;
  }

  /** Resolves when the outcome is known; never rejects. The timeout begins when the host is resolved. */
  async send(push: Push): Promise<PushResult> {
    try {
      return await this.#sendTo(await this.#resolve(push), push);
    } catch (err) {
      return push.signal?.aborted ? { kind: "aborted" } : failure(err as NodeJS.ErrnoException);
    }
  }

  /** Checked at each connection: a name may lead elsewhere than when it was given (DNS rebinding). */
  async #resolve({ url, share, signal }: Push): Promise<LookupFunction> {
    const { resolver, allowPrivate } = this.#options;
    const addresses = await unless(signal, resolver.resolve(hostOf(url), share));
    if (!allowPrivate) refusePrivate(hostOf(url), addresses);
    return lookupOf(addresses);
  }

  async #sendTo(lookup: LookupFunction, push: Push): Promise<PushResult> {
    const { timeoutMs } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = push.signal ? AbortSignal.any([push.signal, timeout]) : timeout;
    try {
      return answered(await this.#post(push, lookup, signal));
    } catch (err) {
      if (push.signal?.aborted || !timeout.aborted) throw err;
      return { kind: "failed", reason: `no answer within ${timeoutMs / 1000} s` };
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #post(push: Push, lookup: LookupFunction, signal: AbortSignal): Promise<IncomingMessage> {
    const { url, envelope, binary } = push;
    const secure = new URL(url).protocol === "https:";
    const content = (binary && toBinaryMode(envelope)) || structuredContent(envelope);
    const { body } = content;
    const headers = { ...signed(push, content), "Content-Length": body.length };
    return new Promise((resolve, reject) => {
      const request = (secure ? httpsRequest : httpRequest)(url, {
        method: "POST",
        agent: secure ? this.#https : this.#http,
        headers,
        signal,
        lookup,
      });
      request.once("socket", requireConnection);
      request.once("error", reject);
      request.once("response", (response) => drain(response, resolve, reject));
      // The answer 101: Node lets go of the connection then, and without a listener tells nobody.
      request.once("upgrade", (response, socket) => {
        resolve(response);
        socket.destroy();
      });
      request.end(body);
    });
  }
}

/** Settles as the promise does, or rejects as soon as the signal aborts. */
function unless<T>(signal: AbortSignal | undefined, promise: Promise<T>): Promise<T> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Ends a socket that is not connected in time. One that is used again is connected already. */
function requireConnection(socket: Socket): void {
  if (!socket.connecting) return;
  const error = new Error(`no connection within ${CONNECT_MS / 1000} s`);
  const fail = () => socket.destroy(Object.assign(error, { code: "ECONNTIMEOUT" }));
  const timer = setTimeout(fail, CONNECT_MS);
  for (const end of ["connect", "close"]) socket.once(end, () => clearTimeout(timer));
}

/** Resolves when the answer is read to its end, so that the connection can be used again, or is long enough. */
function drain(
  response: IncomingMessage,
  resolve: (value: IncomingMessage) => void,
  reject: (err: Error) => void,
) {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_ANSWER_BYTES) return;
    resolve(response);
    response.destroy();
  });
  response.once("end", () => resolve(response));
  response.once("error", reject);
}

function signed({ id, secrets, traceparent }: Push, { headers, body }: HttpContent): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    ...headers,
    "User-Agent": "Afferent",
    ...(traceparent && { traceparent }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((secret) => signature(secret, id, timestamp, body)).join(" "),
  };
}

/** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks). */
function signature(secret: string, id: string, timestamp: number, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

function answered({ statusCode = 0, headers }: IncomingMessage): PushResult {
  return { kind: "answered", status: statusCode, retry_after_seconds: retryAfter(headers["retry-after"]) };
}

/** Seconds that a `Retry-After` asks for, given as a number or as a date; null when it asks for none or makes no sense. */
export function retryAfter(value: string | undefined, now = Date.now()): number | null {
  if (value === undefined) return null;
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - now) / 1000);
  // Taken at its word, an endpoint that always says 0 would spend the budget of a delivery within the second.
  return seconds > 0 ? seconds : null;
}

function failure(err: NodeJS.ErrnoException): PushResult {
  // A fault: too many look-ups of its tenant wait already.
  if (isFault(err)) return { kind: "unreachable", reason: `the host was not looked up: ${err.message}` };
  const kind = UNREACHABLE.has(err.code ?? "") ? "unreachable" : "failed";
  return { kind, reason: err instanceof AddressRefused ? err.message : (err.code ?? err.message) };
}
