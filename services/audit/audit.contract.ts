import { nullable, oneOf, operation } from "../../lib/contract.ts";
import { Id, Timestamp } from "../../lib/schema.ts";
import { Type } from "../../lib/type.ts";

const AuditEntry = Type.Object(
  {
    id: Id("aud"),
    at: Timestamp,
    action: Type.String({ examples: ["memories.erase"] }),
    actor_kind: oneOf(["agent", "user", "service"]),
    actor_id: nullable(Type.String()),
    resource_type: nullable(Type.String({ examples: ["memory"] })),
    resource_id: nullable(Type.String()),
    request_id: nullable(Type.String()),
    ip: nullable(Type.String()),
    details: Type.Object({}, { additionalProperties: true }),
  },
  { title: "AuditEntry" },
);

export const listAudit = operation({
  action: "audit.list",
  route: "GET /audit",
  summary: "List what was done that has to be accounted for, latest first",
  access: { by: "any", scope: "admin" },
  query: {
    action: Type.Optional(Type.String({ maxLength: 100, examples: ["memories.erase"] })),
    actor_id: Type.Optional(Type.String({ maxLength: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 50 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: "`next_cursor` of the page before." })),
  },
  results: {
    200: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: nullable(Type.String()) }),
  },
});

export const auditOperations = [listAudit] as const;
