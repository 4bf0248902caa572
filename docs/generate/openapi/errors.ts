import { honoursKey, isWithinQuota, type Operation } from "../../../lib/contract/contract.ts";
import { FAULTS, type FaultCode, isRetryable } from "../../../lib/contract/faults.ts";

type Json = Record<string, unknown>;

/** An example of `details` per code (spec: Errors). */
const DETAILS: Partial<Record<FaultCode, Json>> = {
  validation_failed: { field: "limit", value: 500, expected: "1 to 200", example: 50 },
  validation_error: { field: "agent_id" },
  invalid_event: { field: "source", value: null, expected: "a non-empty URI-reference" },
  insufficient_scope: { required_scope: "admin" },
  not_found: { resource_type: "agent", resource_id: "ag_4fXq1mCz8Jw0bT7kLr2N" },
  method_not_allowed: { allow: ["GET", "POST", "HEAD"] },
  conflict: { idempotency_key: "order-1842-created", existing_resource_id: "ag_4fXq1mCz8Jw0bT7kLr2N" },
  payload_too_large: { actual_size: 1_500_000, max_size: 1_048_576 },
  unsupported_media_type: { value: "text/plain", expected: ["application/json"] },
  business_rule_violation: { rule: "interest_conflict", message: "The agent already has this interest." },
  rate_limited: { retry_after_seconds: 12, limit: 100, window_seconds: 60 },
  service_unavailable: { retry_after_seconds: 1 },
};

const CODES = Object.keys(FAULTS) as FaultCode[];

export const ERROR_SCHEMA = {
  type: "object",
  description: "Every error has this form. Codes are stable; messages are for people and may change.",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "request_id", "details"],
      properties: {
        code: { type: "string", enum: CODES },
        message: { type: "string" },
        request_id: { type: "string", description: "The same as in the header X-Request-Id." },
        details: { type: "object", description: "What was given and what is allowed, by code." },
      },
    },
  },
};

/** The error of a token request in form encoding (RFC 6749, section 5.2). */
export const OAUTH_ERROR_SCHEMA = {
  type: "object",
  description: "Error of a token request sent as a form.",
  required: ["error", "error_description"],
  properties: {
    error: {
      type: "string",
      enum: [
        ...["invalid_request", "invalid_client", "invalid_grant", "unsupported_grant_type"],
        ...["unauthorized_client"],
        ...["invalid_scope", "invalid_target", "invalid_redirect_uri", "invalid_client_metadata"],
        ...["authorization_pending", "slow_down", "access_denied", "expired_token"],
        ...["temporarily_unavailable", "server_error"],
      ],
    },
    error_description: { type: "string" },
  },
};

const ERROR = { $ref: "#/components/schemas/Error" };
const OAUTH_ERROR = { $ref: "#/components/schemas/OAuthError" };

/** The kind of error response: to a known caller, who is rate-limited; to an unknown one; or in OAuth form. */
type Kind = "known" | "open" | "oauth";

function errorOf(code: FaultCode): Json {
  const request_id = "req_4fXq1mCz8Jw0bT7kLr2N";
  return { code, message: FAULTS[code].means, request_id, details: DETAILS[code] ?? {} };
}

/** Returns the error codes of an operation: its own, and those implied by its access, its path and its inputs. */
export function codesOf(op: Operation): FaultCode[] {
  const codes = new Set<FaultCode>(["validation_failed", "internal_error", "service_unavailable"]);
  for (const code of op.errors ?? []) codes.add(code);
  for (const code of accessCodes(op)) codes.add(code);
  if (namesRow(op)) codes.add("not_found");
  if (hasNamed(op)) codes.add("validation_error");
  if (op.body) codes.add("payload_too_large").add("unsupported_media_type");
  return CODES.filter((code) => codes.has(code));
}

function accessCodes(op: Operation): FaultCode[] {
  const { access } = op;
  if (access.by === "public") return access.identified ? ["authentication_failed", "rate_limited"] : [];
  // Without the installation's setting the path does not exist.
  if (access.by === "operator") {
    return ["authentication_failed", "not_found", ...(honoursKey(op) ? (["conflict"] as const) : [])];
  }
  if (access.by === "monitor") return ["not_found"];
  const codes: FaultCode[] = ["authentication_failed", "rate_limited"];
  if (access.scope) codes.push("insufficient_scope");
  if (op.outlives) codes.push("forbidden");
  if (access.by === "agent") codes.push(access.otherwise ?? "forbidden");
  if (access.by === "user" || access.by === "org_admin") codes.push("forbidden");
  if (honoursKey(op)) codes.push("conflict");
  if (isWithinQuota(op)) codes.push("business_rule_violation");
  return codes;
}

/** Whether its path has an id, which may be unknown. */
function namesRow({ path = {}, refusesInBand }: Operation): boolean {
  return !refusesInBand && Object.keys(path).some((name) => /(^|_)id$/.test(name));
}

/** Whether a mismatch of some field is `validation_error`. */
function hasNamed({ path = {}, query = {}, body = {} }: Operation): boolean {
  const fields = Object.values({ ...path, ...query, ...body }) as Json[];
  return fields.some((field) => /"x-(identifier|value)":/.test(JSON.stringify(field)));
}

/** The error responses of a document: each kind is written once, with an example of each of its codes. */
export class ErrorResponses {
  readonly responses: Json = {};
  readonly examples: Json = {};

  /** Returns those of an operation, by status. One status may cover several codes. */
  of(op: Operation): Json {
    const codes = codesOf(op);
    const statuses = [...new Set(codes.map((code) => FAULTS[code].status))];
    const kind: Kind = op.form || op.oauth ? "oauth" : isOpen(op) ? "open" : "known";
    return Object.fromEntries(
      statuses.map((status) => {
        const these = codes.filter((code) => FAULTS[code].status === status);
        return [status, { $ref: `#/components/responses/${this.#response(these, kind)}` }];
      }),
    );
  }

  #response(codes: FaultCode[], kind: Kind): string {
    const name = kind === "known" ? codes.join(".") : [kind, ...codes].join(".");
    for (const code of codes) this.examples[code] = exampleOf(code);
    this.responses[name] ??= errorResponse(codes, kind);
    return name;
  }
}

function exampleOf(code: FaultCode): Json {
  return { summary: FAULTS[code].means, value: { error: errorOf(code) }, "x-retryable": isRetryable(code) };
}

/** Whether an operation is called without an agent's or a person's token. */
export function isOpen({ access }: Operation): boolean {
  return access.by === "public" || access.by === "operator" || access.by === "monitor";
}

function errorResponse(codes: FaultCode[], kind: Kind): Json {
  const retry = codes.some((code) => code === "rate_limited" || code === "service_unavailable");
  const challenged = codes.some((code) => code === "insufficient_scope" || FAULTS[code].status === 401);
  return {
    description: codes.map((code) => `\`${code}\`: ${FAULTS[code].means}`).join(" "),
    headers: {
      ...headers(kind === "known"),
      ...(retry && { "Retry-After": { $ref: "#/components/headers/Retry-After" } }),
      ...(challenged && { "WWW-Authenticate": { $ref: "#/components/headers/WWW-Authenticate" } }),
    },
    content: {
      "application/json": {
        schema: kind === "oauth" ? { anyOf: [ERROR, OAUTH_ERROR] } : ERROR,
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Returns the headers of every answer, or of those to a known caller. */
export function headers(known: boolean): Json {
  const names = known ? ["X-Request-Id", ...RATE_LIMIT_HEADERS] : ["X-Request-Id"];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The whole catalogue as a table: some codes, such as that of a wrong method, belong to no operation. */
export const ERROR_TABLE = [
  "| Code | Status | Retry | Meaning |",
  "|---|---|---|---|",
  ...CODES.map((code) => {
    const { status, means } = FAULTS[code];
    return `| \`${code}\` | ${status} | ${isRetryable(code) ? "yes" : "no"} | ${means} |`;
  }),
].join("\n");

const RATE_LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
