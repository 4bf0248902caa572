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
      description: "`begun`: it is under way, or was cut off and may have been carried out.",
    }),
    error: nullable(Type.String({ description: "The code with which it was refused." })),
    request_id: nullable(Type.String()),
    ip: nullable(Type.String()),
    details: Type.Object(
      {},
      {
        additionalProperties: true,
        description: "Ids, counts, decisions and names of fields; never content.",
      },
    ),
  },
  { title: "AuditEntry" },
);

export const listAudit = operation({
  action: "audit.list",
  route: "GET /audit",
  heavy: true,
  summary: "List what was done that has to be accounted for, latest first",
  description:
    "What administrators and people alone may do, what deletes, what cannot be undone, who changed runs, templates " +
    "and outputs, which all of a tenant work on together, and who signed in and out. A " +
    "failed sign-in (`auth.login`, `refused`) stands with each account of its e-mail, once a minute from a network; " +
    "without its address where there are several tenants and it named none. Kept for `AUDIT_DAYS`.",
  access: { by: "any", scope: "admin" },
  query: {
    action: Type.Optional(Type.String({ maxLength: 100, examples: ["memories.erase"] })),
    actor_id: Type.Optional(Type.String({ maxLength: 100 })),
    resource_type: Type.Optional(Type.String({ maxLength: 100, examples: ["memory"] })),
    resource_id: Type.Optional(Type.String({ maxLength: 200 })),
    outcome: Type.Optional(oneOf(OUTCOMES)),
    since: Type.Optional(Type.String({ format: "date-time", description: "The earliest `at`." })),
    until: Type.Optional(Type.String({ format: "date-time", description: "What `at` must be before." })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: "`next_cursor` of the page before." })),
  },
  results: {
    200: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: nullable(Type.String()) }),
  },
});

export const auditOperations = [listAudit] as const;
