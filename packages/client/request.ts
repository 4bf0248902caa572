import type { Authorization, Exchange } from "./authorize.ts";
import {
  ApiError,
  ConnectionError,
  describeFailure,
  isCredentialRefused,
  isRedirect,
  redirectError,
  toApiError,
} from "./errors.ts";
import type { CallOptions, Operation } from "./operation.ts";
import { LONGEST_TIMER_MS, pause, randomKey } from "./support.ts";

/** Settings of requests. Times in milliseconds. */
export interface Connection {
  /** The origin, with a trailing path if the service has one; never `/v1`. */
  origin: string;
  authorization: Authorization | undefined;
  fetch: typeof fetch;
  retries: number;
  timeoutMs: number;
  onWait?: (wait: Wait) => void;
}

/** A request that the service asked to send later. */
export interface Wait {
  /** Says what waits, how long and why. */
  message: string;
  seconds: number;
  /** The refusal: `rate_limited`, `service_unavailable` … */
  error: ApiError;
}

type Params = Record<string, unknown>;
type Body = NonNullable<RequestInit["body"]>;

/** Text of unknown encoding, such as an uploaded file, stays bytes. */
const UTF8_TEXT = /^text\/.*charset=utf-8/i;
const DEFAULT_TYPE = "application/json";
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 60_000;
const RETRYABLE = new Set([429, 500, 502, 503, 504]);
/** The request was not carried out, so it may be retried even without an Idempotency-Key. */
const NOT_EXECUTED = new Set([429, 503]);

/**
 * Sends a request, with retries where safe, and returns the answer, which is complete unless it is a stream.
 *
 * @throws ApiError if the service refuses; ConnectionError if it does not answer; the signal's reason
 */
export async function request(
  connection: Connection,
  operation: Operation,
  params: Params,
  options: CallOptions = {},
): Promise<Response> {
  const { retries = connection.retries } = options;
  const key = chooseKey(operation, options);
  const url = buildUrl(connection, operation, params);
  const init = { method: operation.method, ...encodeBody(operation, params) };
  let renewed = false;
  for (let failures = 0; ; ) {
    const outcome = await attempt(connection, operation, url, init, key, options);
    if (outcome instanceof Response) return outcome;
    const { authorization } = connection;
    if (!operation.open && !renewed && isCredentialRefused(outcome) && authorization?.refused?.()) {
      renewed = true;
      continue;
    }
    if (failures >= retries || !mayRetry(operation, outcome, key)) throw outcome;
    const ms = pauseBefore(++failures, outcome);
    if (outcome instanceof ApiError && outcome.retryAfter)
      connection.onWait?.(toWait(operation, outcome, ms));
    await pause(ms, options.signal);
  }
}

function toWait({ method, path }: Operation, error: ApiError, ms: number): Wait {
  const seconds = Math.ceil(ms / 1000);
  return { message: `Waiting ${seconds} s to repeat ${method} ${path}: ${error.message}`, seconds, error };
}

/** Returns the body of a stream of server-sent events. @throws ApiError for another answer, such as a proxy's page */
export async function streamOfAnswer(response: Response): Promise<ReadableStream<Uint8Array>> {
  const type = response.headers.get("content-type") ?? "";
  if (response.body && type.startsWith("text/event-stream")) return response.body;
  throw toApiError(response, await response.text());
}

/**
 * Returns an answer's content: JSON, text or bytes; undefined if empty. @throws ApiError for an answer that is not the
 * service's
 */
export async function bodyOfAnswer(response: Response, operation: Operation): Promise<unknown> {
  if (response.status === 204) return undefined;
  const type = response.headers.get("content-type") ?? "";
  if (operation.file || (operation.document && !isJson(type)))
    return UTF8_TEXT.test(type) ? response.text() : response.blob();
  const text = await response.text();
  try {
    if (isJson(type)) return JSON.parse(text);
  } catch {
    // An intermediary's answer, such as the sign-in page of a proxy.
  }
  throw toApiError(response, text);
}

function isJson(type: string): boolean {
  return /[/+]json\b/.test(type);
}

/** Makes one attempt and returns the answer or the error. @throws the signal's reason */
async function attempt(
  connection: Connection,
  operation: Operation,
  url: string,
  init: RequestInit & { headers: Record<string, string> },
  key: string | undefined,
  options: CallOptions,
): Promise<Response | ApiError | ConnectionError> {
  const { signal, timeoutMs = connection.timeoutMs } = options;
  const { authorization } = connection;
  try {
    const proof = operation.open
      ? {}
      : await authorization?.headers(operation, exchangeOn(connection, signal));
    const response = await (options.fetch ?? connection.fetch)(url, {
      ...init,
      headers: { ...init.headers, ...proof, ...(key && { "Idempotency-Key": key }), ...options.headers },
      credentials: authorization?.credentials ?? "omit",
      redirect: "manual",
      signal: limited(signal, operation.stream ? undefined : timeoutMs),
    });
    if (isRedirect(response)) return redirectError(url, response);
    if (!response.ok) return toApiError(response, await response.text().catch(() => ""));
    // Chromium gives a 204 a body too, and refuses to construct a Response of that status with one.
    if (operation.stream || !response.body || response.status === 204) return response;
    // Read it completely, so that a cut-off or slow answer fails instead of being returned in part.
    return new Response(await response.arrayBuffer(), response);
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof ApiError || cause instanceof ConnectionError) return cause;
    return new ConnectionError(`${operation.method} ${url}: ${describeFailure(cause)}`, cause);
  }
}

function exchangeOn(connection: Connection, signal: AbortSignal | undefined): Exchange {
  return async (operation, params) => {
    const response = await request(connection, operation, params as Params, { ...(signal && { signal }) });
    const date = Date.parse(response.headers.get("date") ?? "");
    const body = await bodyOfAnswer(response, operation);
    return { body, now: Number.isNaN(date) ? Date.now() : date };
  };
}

function buildUrl({ origin }: Connection, operation: Operation, params: Params): string {
  const used = new Set<string>();
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => {
    used.add(name);
    return encodeSegment(name, params[name]);
  });
  const query = new URLSearchParams();
  const inQuery = hasBody(operation) ? (operation.query ?? []) : Object.keys(params);
  for (const name of inQuery) {
    if (used.has(name)) continue;
    for (const value of [params[name]].flat()) if (value !== undefined) query.append(name, String(value));
  }
  const text = query.toString();
  return `${origin}${operation.root ? "" : "/v1"}${path}${text && `?${text}`}`;
}

/** Encodes one path segment. @throws TypeError if empty, `.` or `..`, which change the path even when encoded */
function encodeSegment(name: string, value: unknown): string {
  const segment = encodeURIComponent(String(value ?? ""));
  if (["", ".", ".."].includes(segment))
    throw new TypeError(
      `${name} is ${JSON.stringify(value)}: expected an id or a name, not empty, "." or "..".`,
    );
  return segment;
}

function hasBody({ method }: Operation): boolean {
  return method !== "GET" && method !== "DELETE";
}

function encodeBody(operation: Operation, params: Params): { body?: Body; headers: Record<string, string> } {
  if (!hasBody(operation)) return { headers: {} };
  const whole = operation.whole && params[operation.whole];
  const headers = { "content-type": mediaType(operation, whole) };
  if (typeof whole === "string" || whole instanceof Uint8Array) return { headers, body: whole as Body };
  const elsewhere = new Set([...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  for (const name of operation.query ?? []) elsewhere.add(name);
  const fields = Object.entries(params).filter(([name]) => !elsewhere.has(name));
  return { headers, body: JSON.stringify(whole ?? Object.fromEntries(fields)) };
}

function mediaType({ sends = DEFAULT_TYPE }: Operation, whole: unknown): string {
  return sends === "application/cloudevents+json" && Array.isArray(whole)
    ? "application/cloudevents-batch+json"
    : sends;
}

function chooseKey(operation: Operation, { idempotencyKey }: CallOptions): string | undefined {
  if (idempotencyKey !== undefined) return idempotencyKey;
  return hasBody(operation) && !operation.open && !operation.repeatable ? randomKey() : undefined;
}

function limited(signal: AbortSignal | undefined, ms: number | undefined): AbortSignal | null {
  const late = ms === undefined ? undefined : AbortSignal.timeout(Math.min(ms, LONGEST_TIMER_MS));
  const limits = [signal, late].filter((each) => each !== undefined);
  return limits.length > 1 ? AbortSignal.any(limits) : (limits[0] ?? null);
}

function mayRetry(
  operation: Operation,
  outcome: ApiError | ConnectionError,
  key: string | undefined,
): boolean {
  const repeatable = !operation.open || !hasBody(operation);
  const safe = repeatable && (key !== undefined || operation.repeatable || !hasBody(operation));
  if (outcome instanceof ConnectionError) return safe;
  return NOT_EXECUTED.has(outcome.status) || (safe && RETRYABLE.has(outcome.status));
}

/** Returns the milliseconds to wait: doubled each time, or as the service asks, with jitter. */
export function pauseBefore(failures: number, outcome: unknown): number {
  const told = outcome instanceof ApiError ? outcome.retryAfter : null;
  const jitter = 0.5 + Math.random();
  const wanted = told === null ? FIRST_PAUSE_MS * 2 ** (failures - 1) * jitter : told * 1000 + 100 * jitter;
  return Math.min(wanted, LONGEST_PAUSE_MS);
}
