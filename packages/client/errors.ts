import type { FaultCode } from "./generated/types.ts";

/** An error answer of the service, or an answer that is not the service's. */
export class ApiError<
  Code extends FaultCode | "unexpected_answer" = FaultCode | "unexpected_answer",
> extends Error {
  /** The error code of the catalogue; `unexpected_answer` if, for example, a proxy answered. */
  readonly code: Code;
  readonly status: number;
  /** Details of the code: `field`, `resource_id`, `retry_after_seconds` … */
  readonly details: Record<string, unknown>;
  /** The id to quote to the operator; also in the service's log. */
  readonly requestId: string | null;
  /** Seconds to wait before retrying the same request; null if the service named none. */
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

/** No complete answer: the address is wrong, the network is down, or the request exceeded `timeoutMs`. */
export class ConnectionError extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = "ConnectionError";
  }
}

/** Returns why a `fetch`, or reading its response, failed. */
export function describeFailure(thrown: unknown): string {
  const { message = String(thrown), cause } = thrown as Error & { cause?: Error & { code?: string } };
  const why = cause?.message || cause?.code;
  return why ? `${message} (${why})` : message;
}

/** Whether something thrown is an answer of the service, optionally with a certain code. */
export function isApiError<Code extends FaultCode>(thrown: unknown, code?: Code): thrown is ApiError<Code> {
  return thrown instanceof ApiError && (code === undefined || thrown.code === code);
}

/**
 * Whether the credential itself is refused, so that another may work. False for a person's valid token where an agent's
 * is required: renewing it or signing in again would not help.
 */
export function isCredentialRefused(thrown: unknown): boolean {
  return isApiError(thrown) && thrown.status === 401 && thrown.details.reason !== "agent_identity_required";
}

/** Whether a retry is useless because the request itself is refused. */
export function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.status >= 300 && error.status < 500 && error.status !== 429;
}

/** Returns the error for an answer: the service's refusal, or an answer that is not the service's. */
export function toApiError(response: Response, text: string): ApiError {
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

/** Whether an answer is a redirect. A browser hides its status and its target. */
export function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

/** Returns the error for a redirect. Nothing follows one: the credentials were given for one address only. */
export function redirectError(url: string, response: Response): ApiError {
  const location = response.headers.get("location");
  const target = location !== null && URL.canParse(location, url) ? new URL(location, url) : undefined;
  const where = target ? `${target.origin}${target.pathname}` : "an address that is not shown";
  const isSecured = target?.protocol === "https:" && new URL(url).protocol === "http:";
  const advice = isSecured
    ? `Use the address with https: ${target.origin}.`
    : "Use the service's own address, if that is it.";
  const message = `${url} redirects to ${where}, and credentials are sent only to the given address. ${advice}`;
  const details = target ? { location: where } : {};
  const { status } = response;
  return new ApiError(message, {
    code: "unexpected_answer",
    status,
    details,
    requestId: null,
    retryAfter: null,
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
