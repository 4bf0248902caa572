import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { LookupFunction } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { type HttpContent, structuredContent, toBinaryMode } from "../lib/cloudevents/http.ts";
import { isFault } from "../lib/contract/faults.ts";
import { redirectNote } from "../lib/http/redirect.ts";
import { LruMap } from "../lib/lru-map.ts";
import type { Share } from "../lib/queue/fair-queue.ts";
import { AddressRefused, hostOf, refusePrivate } from "./address-guard.ts";
import { type HostResolver, makeLookup } from "./host-resolver.ts";

interface Post {
  /** The tenant's share that host look-ups count against. */
  share: Share;
  url: string;
  content: HttpContent;
  signal?: AbortSignal;
}

interface Push extends Omit<Post, "content"> {
  /** `webhook-id`: the same for every attempt. */
  id: string;
  /** The CloudEvent as JSON text. */
  envelope: string;
  /** Use the CloudEvents binary mode if the event can be written so. */
  binary?: boolean;
  /** All currently valid ones: one signature each. */
  keys: KeyObject[];
  /** W3C trace context for the endpoint to continue. */
  traceparent?: string | undefined;
}

/**
 * - `answered`: any HTTP status, even without a whole body; `retry_after_seconds` if the endpoint asked for a delay, `note`
 * if it redirects.
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
  ...["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
  // Errors of the look-up.
  ...["ENOTFOUND", "ENODATA", "EAI_AGAIN", "ETIMEOUT", "ESERVFAIL", "EREFUSED", "EBADNAME"],
]);

/** An endpoint that does not accept a connection within this time is unreachable. */
const CONNECT_MS = 5_000;
/** Shorter than the minute for which load balancers keep idle connections. */
const KEEP_ALIVE_MS = 30_000;

/** Limits for reading a response body, by which its connection can be reused: only the status counts. */
const MAX_ANSWER_BYTES = 4096;
const BODY_MS = 1_000;

const MAX_HOSTS = 2_000;

interface PushSenderOptions {
  resolver: HostResolver;
  allowPrivate: boolean;
  timeoutMs: number;
}

/** Posts to endpoints that tenants name: events, signed as Standard Webhooks, and others. Never follows a redirect. */
export class PushSender {
  readonly #options: PushSenderOptions;
  /** Addresses of hosts as they were last checked, for new connections. */
  readonly #checked = new LruMap<string, LookupFunction>(MAX_HOSTS);
  #agent: Promise<Agent> | undefined;

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
      await this.#check(post);
      this.#agent ??= this.#newAgent();
      return await exchange(await this.#agent, post, this.#options.timeoutMs);
    } catch (err) {
      return post.signal?.aborted ? { kind: "aborted" } : failure(err as NodeJS.ErrnoException);
    }
  }

  /** Checks the addresses each time: a name may resolve differently from when it was given (DNS rebinding). */
  async #check({ url, share, signal }: Post): Promise<void> {
    const { resolver, allowPrivate } = this.#options;
    const host = hostOf(url);
    const addresses = await unless(signal, resolver.resolve(host, share));
    if (!allowPrivate) refusePrivate(host, addresses);
    this.#checked.set(host, makeLookup(addresses));
  }

  /** Loads the client when it is first used: a server without pushes does not need its memory. */
  async #newAgent(): Promise<Agent> {
    const { Agent } = await import("undici");
    const lookup: LookupFunction = (host, options, done) => {
      const checked = this.#checked.get(host);
      if (checked) checked(host, options, done);
      else done(Object.assign(new Error(`${host} was not checked`), { code: "ENOTFOUND" }), "");
    };
    // `exchange` limits the time of a request as a whole.
    const timeouts = { headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: KEEP_ALIVE_MS };
    return new Agent({ ...timeouts, connect: { lookup, timeout: CONNECT_MS } });
  }

  async close(): Promise<void> {
    await (await this.#agent)?.destroy();
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

/**
 * Sends a request. Resolves when its response is read to the end, or to its limits. The status settles it: a body that never
 * ends, breaks off or is aborted changes nothing.
 */
function exchange(agent: Agent, { url, content, signal }: Post, timeoutMs: number): Promise<PushResult> {
  const { origin, pathname, search } = new URL(url);
  const headers = { "User-Agent": "Sensorium", ...content.headers };
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve({ kind: "aborted" });
    let controller: Dispatcher.DispatchController | undefined;
    let response: PushResult | undefined;
    let bytes = 0;
    let isOver = false;
    const end = (otherwise: PushResult) => {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      resolve(response ?? otherwise);
    };
    const cut = (result: PushResult) => {
      end(result);
      controller?.abort(new Error("cut off"));
    };
    const abort = () => cut({ kind: "aborted" });
    const reason = `no response within ${timeoutMs / 1000} s`;
    const late = () => cut({ kind: "failed", reason });
    let timer = setTimeout(late, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });
    agent.dispatch(
      { origin, path: pathname + search, method: "POST", headers, body: content.body },
      {
        onRequestStart(started) {
          controller = started;
          // It was cut off while it waited for its connection.
          if (isOver) started.abort(new Error("cut off"));
        },
        onResponseStart(_, status, headers) {
          // Others announce the answer, and do not settle it.
          if (status < 200) return;
          response = answered(url, status, headers);
          clearTimeout(timer);
          timer = setTimeout(late, BODY_MS);
        },
        onResponseData(_, chunk) {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) late();
        },
        onResponseEnd() {
          end({ kind: "failed", reason });
        },
        onResponseError(_, err) {
          if (!isOver) end(failure(err));
        },
      },
    );
  });
}

export function signingKeys(secrets: string[]): KeyObject[] {
  return secrets.map((secret) => createSecretKey(Buffer.from(secret.replace(/^whsec_/, ""), "base64")));
}

function signed({ id, keys, traceparent }: Push, { headers, body }: HttpContent): Record<string, string> {
  const timestamp = Math.floor(Date.now() / 1000);
  return {
    ...headers,
    ...(traceparent && { traceparent }),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": keys.map((key) => signature(key, id, timestamp, body)).join(" "),
  };
}

/** Returns `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body` (Standard Webhooks). */
function signature(key: KeyObject, id: string, timestamp: number, body: Buffer): string {
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}

function answered(url: string, status: number, headers: IncomingHttpHeaders): PushResult {
  const retry_after_seconds = retryAfter(firstOf(headers["retry-after"]));
  const isRedirect = status >= 300 && status < 400;
  const note = isRedirect ? redirectNote(firstOf(headers.location), url) : "";
  return { kind: "answered", status, retry_after_seconds, ...(note && { note }) };
}

const firstOf = (value: string | string[] | undefined) => (Array.isArray(value) ? value[0] : value);

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
  const { code = "" } = err;
  return { kind: UNREACHABLE.has(code) ? "unreachable" : "failed", reason: reasonOf(err, code) };
}

function reasonOf(err: Error, code: string): string {
  if (code === "UND_ERR_CONNECT_TIMEOUT") return `no connection within ${CONNECT_MS / 1000} s`;
  return err instanceof AddressRefused || code === "" || code.startsWith("UND_ERR") ? err.message : code;
}

/**
 * The consequence of an attempt (api.md Delivery, `push`).
 * - `acknowledge`: done. `retry`: the attempt counts. If the endpoint named a delay, it holds for its other deliveries,
 * too; otherwise the receiver's own delays decide.
 * - `park`: the endpoint was not reached; its breaker opens and the attempt does not count.
 * - `stop`: the endpoint is gone permanently. `release`: the worker aborted it.
 */
export type Outcome =
  | { do: "acknowledge" }
  | { do: "retry"; delay_seconds: number | null; reason: string }
  | { do: "park"; reason: string }
  | { do: "stop" }
  | { do: "release" };

const GONE = 410;
const LONGEST_WAIT_SECONDS = 86_400;

export function outcomeOf(result: PushResult): Outcome {
  if (result.kind === "aborted") return { do: "release" };
  if (result.kind === "unreachable") return { do: "park", reason: result.reason };
  if (result.kind === "failed") return { do: "retry", delay_seconds: null, reason: result.reason };
  const { status, retry_after_seconds: wait, note = "" } = result;
  if (status >= 200 && status < 300) return { do: "acknowledge" };
  if (status === GONE) return { do: "stop" };
  const delay_seconds = wait === null ? null : Math.min(wait, LONGEST_WAIT_SECONDS);
  return { do: "retry", delay_seconds, reason: `the endpoint responded with ${status}${note}` };
}
