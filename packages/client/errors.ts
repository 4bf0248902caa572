import type { FaultCode } from "./generated/types.ts";

/** What the service answered with an error envelope, or with something that is none. */
export class ApiError<
  Code extends FaultCode | "unexpected_answer" = FaultCode | "unexpected_answer",
> extends Error {
  /** The code of the catalogue; `unexpected_answer` when a proxy, say, answered in the service's place. */
  readonly code: Code;
  readonly status: number;
  /** What the code tells more of: `field`, `resource_id`, `retry_after_seconds` … */
  readonly details: Record<string, unknown>;
  /** What to name when asking the operator; also in the service's log. */
  readonly requestId: string | null;
  /** Seconds to wait before the same request may do better; null when the service named none. */
  readonly retryAfter: number | null;

  constructor(
    message: string,
    parts: Pick<ApiError<Code>, "code" | "status" | "details" | "requestId" | "retryAfter">,
  ) {
    super(message);
    this.name = "ApiError";
    this.code = parts.code;
    this.status = parts.status;
    this.details = parts.details;
    this.requestId = parts.requestId;
    this.retryAfter = parts.retryAfter;
  }
}

/** No whole answer came: the address is wrong, the network is down, or it took longer than `timeoutMs`. */
export class ConnectionError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
  }
}

/** Why a `fetch`, or reading what it gave, failed. */
export function reasonOf(thrown: unknown): string {
  const { message = String(thrown), cause } = thrown as Error & { cause?: Error & { code?: string } };
  const why = cause?.message || cause?.code;
  return why ? `${message} (${why})` : message;
}

/** Whether something thrown is an answer of the service; with a code, whether it is that one. */
export function isApiError<Code extends FaultCode>(thrown: unknown, code?: Code): thrown is ApiError<Code> {
  return thrown instanceof ApiError && (code === undefined || thrown.code === code);
}

/**
 * Whether the credential itself is refused, so that another one may do better. It is not where a person's valid token
 * stands in place of an agent's: renewing it or signing in again would change nothing.
 */
export function isCredentialRefused(thrown: unknown): boolean {
  return isApiError(thrown) && thrown.status === 401 && thrown.details.reason !== "agent_identity_required";
}

/** Whether trying again is of no use: the request itself is refused. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

/** The error that an answer stands for: a refusal of the service, or what is none of its answers. */
export function errorOf(response: Response, text: string): ApiError {
  const { error } = (parse(text) ?? {}) as { error?: Envelope };
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const shown = text.replace(/\s+/g, " ").trim().slice(0, 200);
  return new ApiError(error?.message ?? `${response.status} ${response.statusText}: ${shown}`, {
    code: error?.code ?? "unexpected_answer",
    status: response.status,
    details: error?.details ?? {},
    requestId: error?.request_id ?? response.headers.get("x-request-id"),
    retryAfter: Number.isFinite(seconds) ? seconds : null,
  });
}

interface Envelope {
  code: FaultCode;
  message: string;
  request_id: string;
  details: Record<string, unknown>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
