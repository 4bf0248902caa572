import { Errors } from "moleculer";

/** Every error that a caller can receive, by HTTP status (spec: Errors; api.md "Everywhere" and "Small print"). */
const MEANINGS = {
  400: {
    validation_failed:
      "The body or query does not match its schema. Correct the field in `details.field` as `details.expected` says.",
    validation_error: "A value is well-formed but not allowed. Correct the field in `details.field`.",
    invalid_event:
      "The event is not a valid CloudEvents 1.0 envelope. Correct the attribute in `details.field`.",
  },
  401: {
    authentication_failed:
      "The credential is missing, malformed, expired or revoked: get a new token. With `details.reason` `ended`, the token was valid before. With `suspended`, the operator has suspended the organisation.",
    totp_required:
      "The account has a second factor. Sign in again with `code`: from the authenticator, or a recovery code.",
  },
  403: {
    insufficient_scope: "The credential lacks the scope in `details.required_scope`. Use one that has it.",
    forbidden: "The caller is not allowed to do this. Use another credential.",
  },
  404: { not_found: "The resource does not exist, or the caller is not allowed to read it. Check its id." },
  405: { method_not_allowed: "The path does not support this method. Use one in `details.allow`." },
  409: {
    conflict:
      "The request conflicts with the current state. Read the resource, then decide whether to send a new request.",
    step_not_ready: "A dependency of the step is not finished. Complete or skip it first.",
    step_not_completable: "The step completes only when a handoff offer is accepted. Offer a handoff.",
    step_not_skippable:
      "The step is already completed or skipped. Only blocked, ready and in_progress steps can be skipped.",
    step_not_reopenable: "The step is not finished. Only completed or skipped steps can be reopened.",
  },
  413: {
    payload_too_large:
      "The body exceeds the limit in `details.max_size`, in bytes, or has more values than `details.max_values`. Send less.",
  },
  415: {
    unsupported_media_type:
      "The operation does not support this content type. Use one in `details.expected`.",
  },
  422: { business_rule_violation: "The request breaks the rule in `details.rule`; the message explains it." },
  429: { rate_limited: "Too many requests. Retry after the seconds in `Retry-After`." },
  500: { internal_error: "An unexpected failure. Retry with the same `Idempotency-Key`." },
  503: {
    service_unavailable:
      "The service is overloaded or in maintenance, or lacks the part in `details.service`. Retry after the seconds in `Retry-After`.",
  },
} as const;

type Meanings = typeof MEANINGS;
export type FaultCode = { [Status in keyof Meanings]: keyof Meanings[Status] }[keyof Meanings];

/** The same by code. Documents and tests are checked against this table. */
export const FAULTS = Object.fromEntries(
  Object.entries(MEANINGS).flatMap(([status, codes]) =>
    Object.entries(codes).map(([code, means]) => [code, { status: Number(status), means }]),
  ),
) as Record<FaultCode, { status: number; means: string }>;

export const isRetryable = (code: FaultCode) => FAULTS[code].status === 429 || FAULTS[code].status >= 500;

/** Values of `details.rule` of a `business_rule_violation`. */
export const RULES = {
  answer_too_large: "The request would read too much at once. Ask for fewer or shorter rows.",
  approval_limit: "The agent, the person or the organisation has too many open approvals. Cancel some first.",
  connector_limit: "The organisation has reached its limit of connectors. Delete one first.",
  export_fails: "The text cannot be exported in this format. Choose another.",
  export_too_long: "The text is too long for this format or for an e-mail. Export it as Markdown or HTML.",
  interest_conflict: "The agent already has this interest. Update the existing one.",
  feed_conflict: "The channel already has this feed.",
  signing_secret_limit: "Too many signing secrets are valid. Rotate again when the oldest has ended.",
  interest_limit:
    "The agent or the organisation has reached its limit of interests and feeds. Delete some first.",
  no_event_to_replay: "The dead letter contains no event to publish. Discard it.",
  secret_key_setting:
    "SECRET_KEY is a setting: set it to a new key on every node, with the former one in SECRET_KEY_FALLBACKS.",
  no_password: "The person signs in by the identity provider alone. Set up a second factor there.",
  own_account: "Nobody can disable, demote or delete themselves. Ask another admin.",
  last_admin: "An organisation keeps an active admin. Make another person an admin first.",
  recipient_refused: "The mail server refuses the recipient. Check the address.",
  run_limit:
    "The run has reached its limit of changes, notes, offers or artifacts. Close it, and continue in a new run.",
  schedule_limit:
    "The agent, the person or the organisation has reached its limit of schedules. Delete some first.",
  scope_only_widens:
    "The scope of a memory can only be widened, and a successor must be at least as visible as the memory that it supersedes.",
  still_not_mapped:
    "The mapping does not fit the dead letter, or no longer exists. Correct the mapping, then replay.",
  storage_quota:
    "The request would exceed the organisation's storage quota. Delete data, or ask the operator for a higher quota.",
  webhook_limit: "The organisation has reached its limit of webhooks. Delete one first.",
} as const;

export type Rule = keyof typeof RULES;

/**
 * An error meant for callers. `type` is the code of the catalogue, `code` its HTTP status and `data` the `details` of
 * the envelope. These three survive Moleculer's transport between nodes, so test `err.type`.
 */
export class Fault extends Errors.MoleculerError {
  constructor(type: FaultCode, message: string, details: Record<string, unknown> = {}) {
    super(message, FAULTS[type].status, type, details);
    this.name = "Fault";
  }
}

/** Whether an error, of this or another node, is in the catalogue. */
export function isFault(err: unknown): err is Fault {
  return (
    err instanceof Error && "type" in err && typeof err.type === "string" && Object.hasOwn(FAULTS, err.type)
  );
}

/** Returns the same fault for missing and for other callers' resources (spec: Errors, not_found). */
export function notFound(resource_type: string, resource_id: string): Fault {
  const message = `There is no ${nounOf(resource_type)} ${resource_id} that you may read. Check the id.`;
  return new Fault("not_found", message, { resource_type, resource_id });
}

/** `device_code` → `device code`. */
const nounOf = (resource_type: string) => resource_type.replaceAll("_", " ");

/** Returns the fault of a caller who may not do something, whatever the scopes. @param message who may */
export function forbidden(message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("forbidden", message, details);
}

/** Returns the fault of a credential without a scope. @param message what needs it */
export function lacksScope(required_scope: string, message: string): Fault {
  return new Fault("insufficient_scope", message, { required_scope });
}

/** Returns the fault of a credential that is missing, wrong or over. */
export function unauthenticated(message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("authentication_failed", message, details);
}

/** Returns the fault of a request that the current state does not allow. */
export function conflict(message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("conflict", message, details);
}

/** Returns the row. @throws Fault not_found if it is null */
export function requireFound<T>(row: T | null | undefined, resource_type: string, resource_id: string): T {
  if (!row) throw notFound(resource_type, resource_id);
  return row;
}

/** Returns the fault of a well-formed value that is not allowed; `field` is its dotted path in the request. */
export function invalidValue(field: string, message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("validation_error", message, { field, ...details });
}

/** Returns the fault of a field with the id of something that does not exist, or that the caller may not use. */
export function unknownReference(field: string, resource_type: string, value: string): Fault {
  const message = `${field}: there is no ${nounOf(resource_type)} ${value} that you may use. Check the id.`;
  return invalidValue(field, message, { value });
}

/** Returns the fault of a caller who has reached a limit. @param message ends with the remedy, before the time to wait */
export function rateLimited(message: string, limit: number, window_seconds: number, waitMs: number): Fault {
  const retry_after_seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const details = { retry_after_seconds, limit, window_seconds };
  return new Fault("rate_limited", `${message} in ${retry_after_seconds} s.`, details);
}

/** Returns the fault of a valid request that breaks a rule of the domain. */
export function ruleBroken(rule: Rule, message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("business_rule_violation", message, { rule, message, ...details });
}

export function unavailable(
  message: string,
  retry_after_seconds = 1,
  details: Record<string, unknown> = {},
): Fault {
  return new Fault("service_unavailable", message, { retry_after_seconds, ...details });
}

const QUOTED_CHARACTERS = 100;

/** Formats a given value for a message: a long text is cut, and an object is not quoted. */
export function quoted(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  const text = typeof value === "string" ? value : String(value);
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return typeof value === "string" ? JSON.stringify(shown) : shown;
}

/** Returns the message of a value without the expected form. @param actual undefined if it is not to be shown */
export function expectation(called: string, expected: string, actual?: string): string {
  return `${called}: expected ${expected}${actual === undefined ? "" : `, got ${actual}`}.`;
}

/** Returns the fault of a value without the expected form. @param called its name in the message */
export function mismatch(
  field: string,
  value: unknown,
  expected: string,
  example: unknown = null,
  called = field,
): Fault {
  const details = { field, value, expected, example };
  const actual = value === null ? undefined : quoted(value);
  return new Fault("validation_failed", expectation(called, expected, actual), details);
}

/** Returns the fault of a cursor that no answer contained. */
export function invalidCursor(cursor: string): Fault {
  return mismatch("cursor", cursor.slice(0, 200), "the next_cursor of the previous page");
}

const SHOWN_CHARACTERS = 200;

/** Returns the given value, short enough for an error. */
export function shown(value: unknown): unknown {
  // Serialising megabytes of text would take long.
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, SHOWN_CHARACTERS) : value) ?? "null";
  return text.length <= SHOWN_CHARACTERS ? value : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
