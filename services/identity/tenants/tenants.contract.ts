import { Type } from "typebox";
import { component, nullable, oneOf, operation, optional } from "../../../lib/contract/contract.ts";
import { DateTime, Id, Name, page, Storage, Timestamp } from "../../../lib/contract/schema.ts";

/** Removal status of each storage place, in an erasure's answer and receipt. */
export const REMOVAL = {
  storage: oneOf(["rewritten", "overwritten", "deleted"], {
    description:
      "How the bytes were removed from the store's files. `rewritten`: the files were rewritten without them. " +
      "`overwritten`: in place; fragments of rows that SQLite moved earlier, about one in a thousand, may remain in unused " +
      "parts of pages. `deleted`: by MongoDB, whose data files, journal and oplog may keep them until the space is reused.",
  }),
  backups_until: nullable(
    DateTime(
      "Time until which the operator's backups may contain the erased data (`BACKUP_RETENTION_DAYS`). Null: unknown.",
    ),
  ),
};

/** Handling of the shared memories of an agent or a person that is deleted. */
export const SharedMemories = Type.Optional(
  oneOf(["keep", "erase"], {
    default: "keep",
    description: "Whether memories that were shared with a team or the organisation stay.",
    examples: ["keep"],
  }),
);

/** Result of the deletion of an agent or a person. */
export const Deleted = component("Deleted", {
  id: Type.String(),
  erased_at: Timestamp,
  erased: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: "Rows by kind." }),
  storage: REMOVAL.storage,
  backups_until: REMOVAL.backups_until,
  receipt: Type.String({ description: "A JWS of the service (`/.well-known/jwks.json`)." }),
});

/**
 * - `founding`: its first rows are being written; an abandoned founding is taken over.
 * - `importing`: its rows are being imported (moving.ts); nobody can use it.
 * - `active`, `suspended`: the operator's choice; nobody can use a suspended tenant.
 * - `erasing`, `erased`: being removed; an erased tenant is an empty row that prevents reuse of its id.
 */
export type TenantStatus = "founding" | "importing" | "active" | "suspended" | "erasing" | "erased";

/** A tenant as other services see it. */
export interface TenantState {
  id: string;
  slug: string;
  name: string;
  status: TenantStatus;
  /** Raised by each suspension: tokens of an earlier version are refused. */
  token_version: number;
  /** Its own limit, 0 for none; null for that of the installation. */
  requests_per_minute: number | null;
}

const operator = { by: "operator" } as const;

export const Slug = Type.String({
  pattern: "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
  "x-expected": "at most 63 lower-case letters, digits and inner hyphens",
  description: "Name of the tenant in URLs: at most 63 lower-case letters, digits and inner hyphens.",
  examples: ["acme"],
});

export const Tenant = component("Tenant", {
  id: Id("tn"),
  slug: Slug,
  name: Name,
  status: oneOf(["active", "suspended", "importing"]),
  storage: Storage,
  storage_quota_mb: nullable(
    Type.Integer({ description: "The tenant's quota; null: `TENANT_STORAGE_MB` applies." }),
  ),
  requests_per_minute: nullable(
    Type.Integer({ description: "The tenant's limit; null: `TENANT_RATE_LIMIT_PER_MINUTE` applies." }),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
});

export const createTenant = operation({
  action: "tenants.create",
  route: "POST /tenants",
  summary: "Create a tenant with its first admin and agent",
  description: "The admin's password and the agent's API key are returned only here.",
  access: operator,
  body: {
    slug: Slug,
    name: Name,
    admin_email: Type.String({
      format: "email",
      maxLength: 254,
      description: "E-mail address of the first admin.",
      examples: ["ada@example.com"],
    }),
  },
  results: {
    201: Type.Object({
      tenant: Tenant,
      admin: Type.Object({ email: Type.String(), password: Type.String() }),
      agent: Type.Object({ id: Id("ag"), api_key: Type.String() }),
      ingest_url: Type.String(),
    }),
  },
  errors: ["conflict"],
  secret: true,
});

export const listTenants = operation({
  action: "tenants.list",
  route: "GET /tenants",
  summary: "List tenants",
  access: operator,
  query: page,
  answer: Type.Object({ tenants: Type.Array(Tenant), total: Type.Integer() }),
});

/** Sort keys of the operator's list of usage. */
export const USAGE_SORTS = [
  "cpu_ms",
  "requests",
  "events",
  "deliveries",
  "dead_letters",
  "searches",
  "stored_bytes",
] as const;

export const TenantUsage = component("TenantUsage", {
  id: Id("tn"),
  slug: Slug,
  name: Name,
  status: oneOf(["active", "suspended"]),
  requests: Type.Integer({ description: "With a token or key, refused ones included." }),
  events: Type.Integer({ description: "Accepted events." }),
  deliveries: Type.Integer({ description: "Created deliveries." }),
  attempts: Type.Integer({ description: "Delivery attempts." }),
  dead_letters: Type.Integer({ description: "Deliveries that became dead letters." }),
  searches: Type.Integer({ description: "Searches of an index, those for enrichment included." }),
  stored_bytes: Type.Integer(),
  cpu_ms: Type.Integer({
    description:
      "Processor time of all nodes. Each node's is divided by its work for each tenant, which is estimated.",
  }),
  cpu_share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "Its part of all tenants' `cpu_ms`.",
  }),
});

export const listTenantUsage = operation({
  action: "tenants.usage",
  route: "GET /tenants/usage",
  summary: "List tenants by their use of the service",
  description:
    "Counts of the current hour and the ones before it, largest first; `stored_bytes` is the present size. Nodes add " +
    "their counts within a minute.",
  access: operator,
  query: {
    ...optional({
      hours: Type.Integer({
        ...{ minimum: 1, maximum: 168, default: 24, examples: [2] },
        description: "Hours to add up, the current one included.",
      }),
      sort: oneOf(USAGE_SORTS, {
        default: "cpu_ms",
        description: "By what the list is sorted, largest first.",
      }),
    }),
    ...page,
  },
  answer: Type.Object({
    tenants: Type.Array(TenantUsage),
    total: Type.Integer(),
  }),
});

export const updateTenant = operation({
  action: "tenants.update",
  route: "PATCH /tenants/{tenant_id}",
  summary: "Suspend or activate a tenant, or change its storage quota or its limit of requests",
  description:
    "Tokens of a suspended tenant are refused within 5 seconds; its data is kept. Earlier sessions and connections stay " +
    "ended when it is active again: people sign in, and devices and clients are approved again. A tenant over its quota can " +
    "read, delete and acknowledge; requests that would store more get `422 business_rule_violation`, rule " +
    "`storage_quota`.",
  access: operator,
  body: {
    ...optional({
      status: oneOf(["active", "suspended"], {
        description: "`suspended`: all tokens of the tenant are refused.",
        examples: ["suspended"],
      }),
      storage_quota_mb: nullable(
        Type.Integer({
          minimum: 0,
          maximum: 1e9,
          description:
            "Storage quota in megabytes (10^6 bytes). 0: no quota. Null: `TENANT_STORAGE_MB` applies.",
          examples: [50_000],
        }),
      ),
      requests_per_minute: nullable(
        Type.Integer({
          minimum: 0,
          maximum: 1e9,
          description:
            "Requests per 60 s of all its callers together, within 5 seconds. 0: no limit. Null: " +
            "`TENANT_RATE_LIMIT_PER_MINUTE` applies.",
          examples: [3_000],
        }),
      ),
    }),
  },
  answer: Tenant,
});

export const eraseTenant = operation({
  action: "tenants.erase",
  route: "DELETE /tenants/{tenant_id}",
  summary: "Erase a tenant and all its data",
  description:
    "Irreversible: the data is removed from the service's files too. Returns a receipt, a JWT signed with the " +
    "service's token key (see /.well-known/jwks.json). If an erasure is interrupted, repeat the request to " +
    "finish it.",
  access: operator,
  answer: Type.Object({
    tenant_id: Id("tn"),
    erased_at: Timestamp,
    erased: Type.Record(Type.String(), Type.Integer(), { description: "Rows by kind." }),
    ...REMOVAL,
    receipt: Type.String(),
  }),
});

const Most = nullable(Type.Integer({ description: "Null: no limit." }));

const Limits = component("Limits", {
  requests_per_minute: Type.Object(
    {
      caller: Most,
      key: Type.Optional(Type.Integer({ description: "Of the key that the caller has, if it has a limit." })),
      tenant: Most,
      webhooks: Most,
    },
    { description: "Per agent or person, for all of them together, and for signed webhooks." },
  ),
  emails_per_hour: nullable(Type.Integer({ description: "Null: e-mail is disabled." })),
  storage: Storage,
  extensions: Type.Array(Type.String(), {
    description: "Optional capabilities that run (docs/extensions.md).",
    examples: [["a2a", "export"]],
  }),
  largest_bytes: Type.Object({ event: Type.Integer(), document: Type.Integer(), output: Most }),
  largest_text: Type.Integer({ description: "Characters of text that are read from a document." }),
  delivery: Type.Object(
    {
      visibility_timeout_seconds: Type.Integer(),
      retry_budget: Type.Integer(),
      retry_delays_seconds: Type.Array(Type.Integer()),
    },
    { description: "Defaults for agents that set none." },
  ),
  kept_days: Type.Object(
    {
      events: Type.Integer(),
      event_ids: Type.Integer(),
      acknowledged_deliveries: Type.Integer(),
      forgotten_memories: Type.Integer(),
      audit: Type.Integer(),
    },
    { description: "How long finished items can be read, or deletions undone." },
  ),
});

export const getTenantLimits = operation({
  action: "tenants.limits",
  route: "GET /limits",
  summary: "Read the organisation's limits",
  description:
    "Limits come from the installation's settings, except those that the operator set for the organisation. The " +
    "`X-RateLimit-*` headers give the remaining requests.",
  access: { by: "any" },
  answer: Limits,
});
