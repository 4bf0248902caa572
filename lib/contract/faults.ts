import { Errors } from "moleculer";

/**
 * Every error a caller can receive: code → HTTP status, whether the same request may be sent again, and what it
 * means (spec: Errors; api.md "Everywhere" and "Small print"). Documents and tests are checked against this table.
 */
export const FAULTS = {
  validation_failed: {
    status: 400,
    retryable: false,
    means: "The body or the query does not fit its schema.",
  },
  validation_error: {
    status: 400,
    retryable: false,
    means: "A value is well-formed but not one that is allowed.",
  },
  invalid_event: { status: 400, retryable: false, means: "The event is not a CloudEvents 1.0 envelope." },
  authentication_failed: {
    status: 401,
    retryable: false,
    means: "The credential is missing, malformed, expired or revoked.",
  },
  insufficient_scope: { status: 403, retryable: false, means: "The credential lacks the required scope." },
  forbidden: { status: 403, retryable: false, means: "The caller is known but may not do this here." },
  not_found: { status: 404, retryable: false, means: "There is no such thing that the caller may see." },
  method_not_allowed: { status: 405, retryable: false, means: "The path exists, but not with this method." },
  conflict: { status: 409, retryable: false, means: "The request collides with what is there." },
  step_not_ready: { status: 409, retryable: false, means: "A step this one depends on is not done." },
  step_not_completable: {
    status: 409,
    retryable: false,
    means: "The step completes only by an accepted hand-off.",
  },
  step_not_skippable: {
    status: 409,
    retryable: false,
    means: "Only ready, running or blocked steps can be skipped.",
  },
  step_not_reopenable: {
    status: 409,
    retryable: false,
    means: "Only completed or skipped steps can be reopened.",
  },
  payload_too_large: {
    status: 413,
    retryable: false,
    means: "The body is over the limit of this operation.",
  },
  unsupported_media_type: {
    status: 415,
    retryable: false,
    means: "The content type is not one this operation reads.",
  },
  business_rule_violation: {
    status: 422,
    retryable: false,
    means: "The request breaks a rule of the domain.",
  },
  rate_limited: { status: 429, retryable: true, means: "Too many requests; wait as Retry-After says." },
  internal_error: {
    status: 500,
    retryable: true,
    means: "An unexpected failure; safe to retry with the same key.",
  },
  service_unavailable: {
    status: 503,
    retryable: true,
    means: "Overload or maintenance; wait as Retry-After says.",
  },
} as const;

export type FaultCode = keyof typeof FAULTS;

/** What `details.rule` of a `business_rule_violation` may be. */
export const RULES = {
  connector_limit: "The organisation has as many connectors as it may have.",
  export_fails: "A file of that format cannot be made of this text.",
  export_too_long: "The text is too long for a file of that format, or for a mail.",
  interest_conflict: "The agent has this interest already.",
  interest_limit: "The agent or the organisation has reached its limit of interests and feeds.",
  no_event_to_replay: "The dead letter holds no event that could be published.",
  own_account: "Nobody can disable or demote themselves.",
  recipient_refused: "The mail server refuses the recipient.",
  run_limit:
    "As much has happened or was noted in the run as may, or it has as many offers or artifacts as it may have.",
  scope_only_widens:
    "A memory's scope only widens, and a successor is at least as visible as what it replaces.",
  still_not_mapped: "The mapping does not fit the dead letter, or there is none any more.",
  storage_quota: "The organisation stores as much as its quota allows, or would with this.",
  webhook_limit: "The organisation has as many webhooks as it may have.",
} as const;

export type Rule = keyof typeof RULES;

/**
 * An error a caller is meant to see. `type` is the code of the catalogue, `code` its HTTP status and `data` the
 * `details` of the envelope: the three that survive Moleculer's transport between nodes, so test `err.type`.
 */
export class Fault extends Errors.MoleculerError {
  constructor(type: FaultCode, message: string, details: Record<string, unknown> = {}) {
    super(message, FAULTS[type].status, type, details);
    this.name = "Fault";
  }
}

/** Whether an error, from this node or another, is one of the catalogue. */
export function isFault(err: unknown): err is Fault {
  return (
    err instanceof Error && "type" in err && typeof err.type === "string" && Object.hasOwn(FAULTS, err.type)
  );
}

/** The same answer for what is absent and for what belongs to somebody else (spec: Errors, not_found). */
export function notFound(resource_type: string, resource_id: string): Fault {
  return new Fault("not_found", `There is no ${resource_type} ${resource_id}.`, {
    resource_type,
    resource_id,
  });
}

/** A value that is well-formed but does not hold; `field` is its dotted path in the request. */
export function invalidValue(field: string, message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("validation_error", message, { field, ...details });
}

/** A request that is valid and breaks a rule of the domain. */
export function ruleBroken(rule: Rule, message: string, details: Record<string, unknown> = {}): Fault {
  return new Fault("business_rule_violation", message, { rule, message, ...details });
}

/** A cursor that no answer ever gave. */
export function invalidCursor(cursor: string): Fault {
  const expected = "the next_cursor of an earlier answer";
  const details = { field: "cursor", value: cursor.slice(0, 200), expected, example: null };
  return new Fault("validation_failed", `cursor: expected ${expected}.`, details);
}
