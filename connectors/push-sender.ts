import { createHmac } from "node:crypto";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { type HttpContent, structuredContent, toBinaryMode } from "../lib/cloudevents/http.ts";
import { isFault } from "../lib/contract/faults.ts";
import { redirectNote } from "../lib/http/redirect.ts";
import type { Share } from "../lib/queue/fair-queue.ts";
import { AddressRefused, hostOf, refusePrivate } from "./address-guard.ts";
import { type HostResolver, makeLookup } from "./host-resolver.ts";

/** A request and its destination. */
interface Post {
  /** The tenant's share that host look-ups count against. */
  share: Share;
  url: string;
  content: HttpContent;
  signal?: AbortSignal;
}

/** A push of an event. */
interface Push extends Omit<Post, "content"> {
  /** `webhook-id`: the same for every attempt. */
  id: string;
  /** The CloudEvent as JSON text. */
  envelope: string;
  /** Use the CloudEvents binary mode if the event can be written so. */
  binary?: boolean;
  /** `whsec_…`, all currently valid ones: one signature each. */
  secrets: string[];
  /** W3C trace context for the endpoint to continue. */
  traceparent?: string | undefined;
}

/**
 * - `answered`: any HTTP status; `retry_after_seconds` if the endpoint asked for a delay, `note` if it redirects.
 * - `unreachable`: refused, no route, unknown name, no answer to the look-up or to the connection; nothing was sent.
 * - `failed`: any other failure: timeout, connection reset, no TLS, an address that is not allowed.
 * - `aborted`: by the caller's signal.
 */
export type PushResult =
  | { kind: "answered"; status: number; retry_after_seconds: number | null; note?: string }
  | { kind: "unreachable"; reason: string }
  | { kind: "failed"; reason: string }
  | { kind: "aborted" };

const UNREACHABLE = new Set([
  ...["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ECONNTIMEOUT"],
  // Errors of the look-up.
  ...["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ETIMEOUT", "ESERVFAIL", "EREFUSED", "EBADNAME"],
]);

/** An endpoint that does not accept a connection within this time is unreachable. */
const CONNECT_MS = 5_000;

/** Limit for reading a response body: only the status counts. */
const MAX_ANSWER_BYTES = 4096;

interface PushSenderOptions {
  resolver: HostResolver;
  allowPrivate: boolean;
  timeoutMs: number;
}

/** Posts to endpoints that tenants name: events, signed as Standard Webhooks, and others. Never follows a redirect. */
export class PushSender {
  readonly #options: PushSenderOptions;
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 64, timeout: 60_000 });
  readonly #https = new HttpsAgent({ keepAlive: true, maxFreeSockets: 64, timeout: 60_000 });

  constructor(options: PushSenderOptions) {
    this.#options = options;
  }

  /** Sends an event, as `post` does. */
  send(push: Push): Promise<PushResult> {
    const content = (push.binary && toBinaryMode(push.envelope)) || structuredContent(push.envelope);
    return this.post({ ...push, content: { ...content, headers: signed(push, content) } });
  }

  /** Resolves to the outcome; never rejects. The timeout starts when the host is resolved. */
  async post(post: Post): Promise<PushResult> {
    try {
      return await this.#sendTo(await this.#resolve(post), post);
    } catch (err) {
      return post.signal?.aborted ? { kind: "aborted" } : failure(err as NodeJS.ErrnoException);
    }
  }

  /** Checks the address at each connection: a name may resolve differently from when it was given (DNS rebinding). */
  async #resolve({ url, share, signal }: Post): Promise<LookupFunction> {
    const { resolver, allowPrivate } = this.#options;
    const addresses = await unless(signal, resolver.resolve(hostOf(url), share));
    if (!allowPrivate) refusePrivate(hostOf(url), addresses);
    return makeLookup(addresses);
  }

  async #sendTo(lookup: LookupFunction, post: Post): Promise<PushResult> {
    const { timeoutMs } = this.#options;
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = post.signal ? AbortSignal.any([post.signal, timeout]) : timeout;
    try {
      return answered(post.url, await this.#request(post, lookup, signal));
    } catch (err) {
      if (post.signal?.aborted || !timeout.aborted) throw err;
      return { kind: "failed", reason: `no response within ${timeoutMs / 1000} s` };
    }
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #request({ url, content }: Post, lookup: LookupFunction, signal: AbortSignal): Promise<IncomingMessage> {
    const secure = new URL(url).protocol === "https:";
    const { body } = content;
    const headers = { "User-Agent": "Sensorium", ...content.headers, "Content-Length": body.length };
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
      // On status 101 Node releases the connection, and without a listener notifies nobody.
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

/** Destroys a socket that does not connect in time. A reused one is connected already. */
function requireConnection(socket: Socket): void {
  if (!socket.connecting) return;
  const error = new Error(`no connection within ${CONNECT_MS / 1000} s`);
  const fail = () => socket.destroy(Object.assign(error, { code: "ECONNTIMEOUT" }));
  const timer = setTimeout(fail, CONNECT_MS);
  for (const end of ["connect", "close"]) socket.once(end, () => clearTimeout(timer));
}

/** Resolves when the response is read to its end, so that the connection can be reused, or has reached its limit. */
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
    ...(traceparent && { traceparent }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((secret) => signature(secret, id, timestamp, body)).join(" "),
  };
}

/** Returns `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks). */
function signature(secret: string, id: string, timestamp: number, body: Buffer): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

function answered(url: string, { statusCode = 0, headers }: IncomingMessage): PushResult {
  const retry_after_seconds = retryAfter(headers["retry-after"]);
  const isRedirect = statusCode >= 300 && statusCode < 400;
  const note = isRedirect ? redirectNote(headers.location, url) : "";
  return { kind: "answered", status: statusCode, retry_after_seconds, ...(note && { note }) };
}

/** Parses the seconds of a `Retry-After`, a number or a date; null if it asks for no delay or is invalid. */
export function retryAfter(value: string | undefined, now = Date.now()): number | null {
  if (value === undefined) return null;
  const seconds = /^\s*\d+\s*$/.test(value) ? Number(value) : Math.ceil((Date.parse(value) - now) / 1000);
  // An endpoint that always asks for 0 would use up the attempts of a delivery within a second.
  return seconds > 0 ? seconds : null;
}

function failure(err: NodeJS.ErrnoException): PushResult {
  // A fault: too many look-ups of the tenant are waiting.
  if (isFault(err)) return { kind: "unreachable", reason: `the host could not be looked up: ${err.message}` };
  const kind = UNREACHABLE.has(err.code ?? "") ? "unreachable" : "failed";
  return { kind, reason: err instanceof AddressRefused ? err.message : (err.code ?? err.message) };
}
