import { VERSION } from "../../../lib/version.ts";
import { RUNNING } from "../../../services/extensions.ts";
import { ERROR_SCHEMA, ERROR_TABLE, OAUTH_ERROR_SCHEMA } from "./errors.ts";

/** The parts of the OpenAPI document that do not depend on contracts. */
export const INFO = {
  title: "Sensorium",
  version: VERSION,
  summary: "Agents sense, remember and work together.",
  description:
    "Events in (CloudEvents 1.0), deliveries out by poll, server-sent events or push, with acknowledgement, retries " +
    "and dead letters.\n\n" +
    "Times are ISO 8601 in UTC with milliseconds. Unknown query parameters are ignored. Unknown keys of a body are " +
    "refused with `validation_failed`: `details.field` names the key and `details.expected` the nearest allowed one. " +
    "Read-only fields of the resource are ignored, so that what was read can be written back. " +
    "Free-form objects, such as `metadata`, accept any key. Resources of other tenants get the same 404 as missing ones.\n\n" +
    `## Errors\n\n${ERROR_TABLE}`,
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** Descriptions of the domains. */
export const TAGS: Record<string, string> = {
  agents: "Clients that publish and receive events.",
  approvals: "Questions of agents that people answer.",
  audit: "The log of audited actions.",
  auth: "Access tokens, from an agent's key or a sign-in.",
  bundles: "Snapshots of the context of a task: memories, outputs, handoffs.",
  channels: "Groups of agents that share feeds.",
  connectors: "Brokers whose messages become events.",
  deliveries: "Receiving and acknowledging events; dead letters.",
  devices: "Connecting an agent's device by a code that a person approves.",
  documents: "Uploaded files, chunked and searchable.",
  events: "Publishing and tracing events.",
  exemplars: "Texts kept as examples.",
  findings: "New institutional memories.",
  gateway: "The installation: health, metrics, this document.",
  handoffs: "The state of work, for another client to continue.",
  ingest: "Webhooks from other systems.",
  interests: "Subscriptions of agents.",
  keys: "API keys of agents.",
  live: "Live event traffic, for the console.",
  memories: "Facts that agents remember, with their readers.",
  merges: "Proposals to merge duplicate memories.",
  nodes: "The nodes of the installation, maintenance and the log level.",
  oauth: "Sign-in of programs by OAuth 2.1: a person approves that a program acts as an agent.",
  onboarding: "First steps for new users.",
  outputs: "Versioned documents by agents and people.",
  projects: "Groups of memories, runs and outputs.",
  rotation: "The keys of the installation, for its operator.",
  relationships: "Links between memories.",
  runs: "Processes of people and agents, step by step.",
  schedules: "Events published at times to come: repeatedly, or once.",
  sessions: "Connected devices.",
  specialists: "Named prompts that agents load.",
  teams: "Groups of agents.",
  templates: "Processes that runs copy.",
  tenants: "Organisations of the installation, for its operator.",
  users: "People of an organisation.",
  ...Object.assign({}, ...RUNNING.map(({ domains }) => domains)),
};

const text = (description: string, more: object = {}) => ({
  description,
  schema: { type: "string", ...more },
});
const whole = (description: string) => ({ description, schema: { type: "integer", minimum: 0 } });

const attribute = (
  name: string,
  description: string,
  example: string,
  schema: object = { minLength: 1 },
) => ({
  [`ce-${name}`]: {
    name: `ce-${name}`,
    in: "header",
    required: false,
    description: `Binary mode: ${description}`,
    schema: { type: "string", ...schema },
    example,
  },
});

export const COMPONENTS = {
  schemas: { Error: ERROR_SCHEMA, OAuthError: OAUTH_ERROR_SCHEMA } as Record<string, unknown>,
  headers: {
    "X-Request-Id": text("The caller's X-Request-Id if it is valid, otherwise a new one."),
    "X-RateLimit-Limit": whole("Requests allowed in any 60 seconds; absent without a limit."),
    "X-RateLimit-Remaining": whole("Requests left in the current 60 seconds."),
    "X-RateLimit-Reset": whole(
      "Time at which the oldest counted request stops counting, in seconds since the epoch.",
    ),
    "Retry-After": whole("Seconds to wait before retrying the request."),
    "WWW-Authenticate": text(
      "How to authenticate (RFC 6750). `invalid_token`: the token is malformed, expired or revoked. " +
        "`insufficient_scope`: it lacks the named scope. Without an error: the request had no token, or a person's " +
        "where an agent's is required.",
    ),
    "Content-Disposition": text("File name for the response (RFC 6266)."),
    "Idempotency-Replayed": text(
      "`true` if this is the stored response to an earlier request with the same key.",
      {
        enum: ["true"],
      },
    ),
  },
  parameters: {
    "Idempotency-Key": {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "Makes a request safe to retry. For at least 24 hours, the same key with the same method, path and body " +
        "returns the stored response; with another body, `409 conflict`. Responses 401, 429 and 5xx are not stored. " +
        "Responses with a secret are stored for 10 minutes only.",
      schema: { type: "string", minLength: 1, maxLength: 255 },
      example: "order-1842-created",
    },
    ...attribute("specversion", "the version of CloudEvents.", "1.0", { enum: ["1.0"] }),
    ...attribute("id", "the event's id.", "72d6a7f0-1"),
    ...attribute("source", "the producing system.", "https://github.com/acme/shop", {
      ...{ format: "uri-reference", minLength: 1 },
    }),
    ...attribute("type", "the event's type.", "com.github.issues.opened"),
    ...attribute("subject", "what the event is about.", "acme/shop#12"),
    ...attribute("time", "when it happened (RFC 3339).", "2026-01-31T09:30:00Z", { format: "date-time" }),
  },
  securitySchemes: {
    bearer: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description:
        "An access token of an agent (`POST /v1/auth/token`) or a person (`POST /v1/auth/login`), or an agent's API key.",
    },
    operator: { type: "http", scheme: "bearer", description: "`OPERATOR_TOKEN` of the installation." },
    monitor: { type: "http", scheme: "bearer", description: "`METRICS_TOKEN` of the installation." },
  },
};
