import { nullable, oneOf, operation } from "../../../lib/contract/contract.ts";
import { Id, Timestamp } from "../../../lib/contract/schema.ts";
import { Type } from "../../../lib/contract/type.ts";

export const ACTORS = ["agent", "user", "operator", "service"] as const;
/** `begun`: in progress, or interrupted with an unknown outcome. */
export const OUTCOMES = ["begun", "done", "refused", "failed"] as const;

const AuditEntry = Type.Object(
  {
    id: Id("aud"),
    at: Timestamp,
    action: Type.String({ examples: ["memories.erase"] }),
    actor_kind: oneOf(ACTORS),
    actor_id: nullable(Type.String()),
    resource_type: nullable(Type.String({ examples: ["memory"] })),
    resource_id: nullable(Type.String()),
    outcome: oneOf(OUTCOMES, {
      description: "`begun`: in progress, or interrupted and possibly completed.",
    }),
    error: nullable(Type.String({ description: "The error code of the refusal." })),
    request_id: nullable(Type.String()),
    ip: nullable(Type.String()),
    details: Type.Object(
      {},
      {
        additionalProperties: true,
        description: "Ids, counts, decisions and field names; never content.",
      },
    ),
  },
  { title: "AuditEntry" },
);

export const listAudit = operation({
  action: "audit.list",
  route: "GET /audit",
  heavy: true,
  summary: "List audited actions, newest first",
  description:
    "Audited are actions reserved for admins or people, deletions, irreversible actions, changes of runs, templates and " +
    "outputs, and sign-ins and sign-outs. A failed sign-in (`auth.login`, `refused`) is recorded for each account of its " +
    "e-mail address, once a minute per network; without the address if several tenants exist and the request named none. " +
    "Entries are kept for `AUDIT_DAYS`.",
  access: { by: "any", scope: "admin" },
  query: {
    action: Type.Optional(Type.String({ maxLength: 100, examples: ["memories.erase"] })),
    actor_id: Type.Optional(Type.String({ maxLength: 100 })),
    resource_type: Type.Optional(Type.String({ maxLength: 100, examples: ["memory"] })),
    resource_id: Type.Optional(Type.String({ maxLength: 200 })),
    outcome: Type.Optional(oneOf(OUTCOMES)),
    since: Type.Optional(Type.String({ format: "date-time", description: "The earliest `at`." })),
    until: Type.Optional(Type.String({ format: "date-time", description: "The end of `at`, exclusive." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: "`next_cursor` of the previous page." }),
    ),
  },
  results: {
    200: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: nullable(Type.String()) }),
  },
});

export const auditOperations = [listAudit] as const;
