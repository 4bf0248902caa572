import { ERROR_SCHEMA, ERROR_TABLE, OAUTH_ERROR_SCHEMA } from "./errors.ts";

/** The parts of the OpenAPI document that do not depend on contracts. */
export const INFO = {
  title: "Afferent",
  version: "1.0",
  summary: "Agents sense, remember and work together.",
  description:
    "Events in (CloudEvents 1.0), deliveries out by poll, server-sent events or push, with acknowledgement, retries " +
    "and dead letters.\n\n" +
    "Times are ISO 8601 in UTC with milliseconds. Unknown query parameters are ignored. Unknown keys of a body are " +
    "refused with `validation_failed`: `details.field` names the key and `details.expected` the nearest allowed one. " +
    "Free-form objects, such as `metadata`, take any key. What belongs to another tenant is not found, like what is not there.\n\n" +
    `## Errors\n\n${ERROR_TABLE}`,
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

/** Descriptions of the domains. */
export const TAGS: Record<string, string> = {
  agents: "Those who publish and receive.",
  audit: "What was done that has to be accounted for.",
  auth: "Tokens: from an agent's key, or by signing in.",
  bundles: "What a task needs, gathered once: memories, outputs, handoffs.",
  channels: "Agents that share feeds.",
  connectors: "Brokers whose messages are taken as events.",
  deliveries: "What an agent is given: taking, settling, dead letters.",
  devices: "Connecting an agent's device by a code that a person approves.",
  documents: "Files that agents read: uploaded, cut into chunks, found by search.",
  events: "Publishing, and what became of an event.",
  exemplars: "Whole texts kept as examples.",
  findings: "What is new in the institution's memory.",
  gateway: "The installation itself: health, measures, this document.",
  handoffs: "Where work stands, for another client to go on.",
  ingest: "Inlets for what other systems send.",
  interests: "What an agent wants to be given.",
  keys: "API keys of agents.",
  live: "How events flow now, for the console.",
  memories: "What agents remember, and who may read it.",
  merges: "Memories that are one and the same, and who decides so.",
  onboarding: "What to try next, by what was tried.",
  outputs: "Documents that agents and people save, with all their versions.",
  projects: "What memories, runs and outputs are filed under.",
  relationships: "How memories hang together.",
  runs: "Work of people and agents, step by step.",
  sessions: "Devices that are connected.",
  specialists: "Named preambles that agents load.",
  teams: "Agents that belong together.",
  templates: "How a kind of work goes: steps that runs copy.",
  tenants: "Organisations of an installation, for its operator.",
  users: "People of an organisation.",
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
    "X-Request-Id": text("The caller's X-Request-Id if it sent a sane one, else a new one."),
    "X-RateLimit-Limit": whole("Requests allowed in any 60 seconds; absent where no limit is on."),
    "X-RateLimit-Remaining": whole("Requests left now."),
    "X-RateLimit-Reset": whole("When the oldest counted request stops counting, in seconds since the epoch."),
    "Retry-After": whole("Seconds to wait before the same request is sent again."),
    "WWW-Authenticate": text(
      "The way to authenticate (RFC 6750). `invalid_token`: the token is malformed, expired or revoked. " +
        "`insufficient_scope`: it lacks the named scope. Without an error no token was sent, or the valid one of a " +
        "person where an agent's is needed.",
    ),
    "Content-Disposition": text("The name to save the answer under (RFC 6266)."),
    "Idempotency-Replayed": text("`true` on the stored answer of an earlier request with the same key.", {
      enum: ["true"],
    }),
  },
  parameters: {
    "Idempotency-Key": {
      name: "Idempotency-Key",
      in: "header",
      required: false,
      description:
        "Makes a repetition safe: the same key with the same method, path and body is answered with the stored " +
        "answer for at least 24 hours; with another body it is `409 conflict`. Answers 401, 429 and 5xx are not " +
        "stored. An answer that holds a secret is given again for 10 minutes only.",
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
        "The access token of an agent (`POST /v1/auth/token`) or of a person (`POST /v1/auth/login`), or an agent's API " +
        "key itself.",
    },
    operator: { type: "http", scheme: "bearer", description: "`OPERATOR_TOKEN` of the installation." },
    monitor: { type: "http", scheme: "bearer", description: "`METRICS_TOKEN` of the installation." },
  },
};
