import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { AnyText, Id, page, Timestamp } from "../../../lib/contract/schema.ts";

export const ACTORS = ["agent", "user", "operator", "service"] as const;
/** `begun`: in progress, or interrupted with an unknown outcome. */
export const OUTCOMES = ["begun", "done", "refused", "failed"] as const;

const AuditEntry = component("AuditEntry", {
  id: Id("aud"),
  at: Timestamp,
  action: Type.String({ examples: ["memories.erase"] }),
  actor_kind: oneOf(ACTORS),
  actor_id: nullable(Type.String()),
  resource_type: nullable(Type.String({ examples: ["memory"] })),
  resource_id: nullable(Type.String()),
  outcome: oneOf(OUTCOMES, {
    description: "`begun`: still running, or interrupted with an unknown outcome.",
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
});

const filters = {
  ...optional({
    action: AnyText(100, "Only this action: an operation's id.", "memories.erase"),
    actor_id: AnyText(100, "Only actions of this agent or user."),
    resource_type: AnyText(100, "Only this kind of resource.", "memory"),
    resource_id: AnyText(200, "Only this resource."),
    outcome: oneOf(OUTCOMES, { description: "Only this outcome." }),
    since: Type.String({ format: "date-time", description: "Only entries at this time or later." }),
    until: Type.String({ format: "date-time", description: "Only entries before this time." }),
  }),
};

export const EXPORT_FORMATS = ["csv", "ndjson"] as const;

export const listAuditRecords = operation({
  action: "audit.list",
  route: "GET /audit",
  summary: "List audited actions, newest first",
  description:
    "The log contains actions reserved for admins or people, deletions, irreversible actions, changes of runs, " +
    "templates and outputs, and sign-ins and sign-outs. A failed sign-in (`auth.login`, `refused`) is recorded " +
    "for each account with that e-mail address, once a minute per network; it omits the address if several " +
    "tenants exist and the request named none. Entries are kept for `AUDIT_DAYS`.",
  access: { by: "any", scope: "admin" },
  query: {
    ...filters,
    limit: page.limit,
    cursor: Type.Optional(AnyText(200, "`next_cursor` of the previous page.")),
  },
  answer: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: nullable(Type.String()) }),
});

export const exportAuditRecords = operation({
  action: "audit.export",
  route: "GET /audit/export",
  summary: "Export audited actions, newest first",
  description:
    "Returns all entries that match the filter of `GET /audit`, of any number, with the names of agents and people. " +
    "`ndjson`: one `AuditEntry` per line. `csv`: text that a spreadsheet would run as a formula begins with an " +
    "apostrophe. The export itself is recorded.",
  access: { by: "any", scope: "admin" },
  audit: true,
  query: {
    format: Type.Optional(oneOf(EXPORT_FORMATS, { default: "csv", description: "File format." })),
    ...filters,
  },
  continuedBy: "audit.export_next",
  answer: Type.String(),
  produces: ["text/csv; charset=utf-8", "application/x-ndjson; charset=utf-8"],
  attachment: true,
});
