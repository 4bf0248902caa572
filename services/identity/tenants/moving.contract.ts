import { Type } from "typebox";
import { nullable, operation, optional } from "../../../lib/contract/contract.ts";
import { DateTime, Id, SomeText } from "../../../lib/contract/schema.ts";
import { Slug } from "./tenants.contract.ts";

const operator = { by: "operator" } as const;

const Hash = Type.String({
  pattern: "^[0-9a-f]{64}$",
  description: "SHA-256 in hex.",
  examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
});
const Collection = Type.String({
  pattern: "^[a-z0-9_]{1,64}$",
  description: "Name of a collection of rows.",
  examples: ["agents"],
});
const Key = Type.Optional(
  nullable(
    Type.String({
      pattern: "^[A-Za-z0-9+/]{43}=$",
      description: "32 bytes in base64 that encrypt the secrets on their way; null: secrets are left out.",
      examples: ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
    }),
  ),
);
const Content = Type.String({ description: "Bytes in base64.", examples: ["SGVsbG8="] });
const Rows = Type.String({ description: "Rows as NDJSON.", examples: [""] });

/** Fields a new tenant takes from the exported one. */
const Moved = Type.Object(
  {
    id: Id("tn", "Its id, which it keeps."),
    slug: Slug,
    name: SomeText(200, "Its name.", "Acme"),
    storage_quota_mb: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1e9,
        description: "Its own storage quota in megabytes; null: the installation's.",
        examples: [500],
      }),
    ),
    requests_per_minute: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 1e9,
        description: "Its own limit of requests, 0 for none; null: the installation's.",
        examples: [3_000],
      }),
    ),
    ...optional({
      token_version: Type.Integer({
        minimum: 0,
        maximum: 1e9,
        description: "Connections that were approved in this version of the tenant stand.",
        examples: [0],
      }),
    }),
    created_at: DateTime("When it was created.", "2026-01-31T09:30:00.000Z"),
  },
  { description: "The tenant, as its export began." },
);

export const exportTenant = operation({
  action: "tenants.export",
  route: "POST /tenants/{tenant_id}/export",
  summary: "Begin an export of a tenant",
  description:
    "Returns what `npm run admin -- tenants export` then reads page by page: `collections`, in the order in which they " +
    "must be imported.",
  access: operator,
  reads: true,
  audit: true,
  answer: Type.Object({ tenant: Moved, collections: Type.Array(Type.String()) }),
});

export const exportTenantRows = operation({
  action: "tenants.export_rows",
  route: "POST /tenants/{tenant_id}/export/rows",
  summary: "Export a page of a tenant's rows",
  description:
    "Rows in the order of their ids, as NDJSON. `blobs`: hashes of the contents that they refer to. `next`: where the next " +
    "page begins; null after the last.",
  access: operator,
  reads: true,
  audit: false,
  body: {
    collection: Collection,
    after: Type.Optional(
      nullable(
        Type.String({
          description: "`next` of the page before; null for the first.",
          examples: ["mem_3fJ7"],
        }),
      ),
    ),
    key: Key,
  },
  answer: Type.Object({
    rows: Type.String(),
    count: Type.Integer(),
    blobs: Type.Array(Type.String()),
    next: nullable(Type.String()),
  }),
  errors: ["conflict"],
});

export const exportTenantContent = operation({
  action: "tenants.export_content",
  route: "POST /tenants/{tenant_id}/export/content",
  summary: "Export a part of a content",
  description: "The bytes from `from`. `next`: where the next part begins; null after the last.",
  access: operator,
  reads: true,
  audit: false,
  body: {
    hash: Hash,
    from: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 1e12, description: "Its first byte.", examples: [0] }),
    ),
  },
  answer: Type.Object({ content: Type.String(), next: nullable(Type.Integer()) }),
});

export const importTenant = operation({
  action: "tenants.import",
  route: "POST /tenants/import",
  summary: "Begin or complete an import of a tenant",
  description:
    "Begins with the tenant in the status `importing`, which nobody can use; with `complete` it becomes active, " +
    "unless rows were refused since it last began. `done`: it was imported from this export already. A tenant that exists otherwise is refused: erase it first.",
  access: operator,
  // Its rows may be of any format that this version knows.
  needs: { "*": 1 },
  body: {
    tenant: Moved,
    export_id: SomeText(
      100,
      "Names the export: an import that was begun continues with the same one.",
      "an-export",
    ),
    complete: Type.Optional(
      Type.Boolean({ description: "Whether everything has been imported.", examples: [false] }),
    ),
  },
  answer: Type.Object({ status: Type.String(), slug: Type.String(), done: Type.Boolean() }),
  errors: ["conflict"],
});

export const importTenantRows = operation({
  action: "tenants.import_rows",
  route: "POST /tenants/{tenant_id}/import/rows",
  summary: "Import a page of a tenant's rows",
  description:
    "Adds the rows that are missing, with their ids, to a tenant in the status `importing`; at most 2000. `same`: rows " +
    "that were imported already. `refused`: rows that do not fit their collection or name another tenant's row, with the field, and those whose " +
    "id or unique field another row has. `unset`: rows whose secrets must be set again.",
  access: operator,
  audit: false,
  maxBody: 33_554_432,
  body: { collection: Collection, rows: Rows, key: Key },
  answer: Type.Object({
    added: Type.Integer(),
    same: Type.Integer(),
    left_out: Type.Integer(),
    refused: Type.Array(Type.Object({ id: Type.String(), reason: Type.String() })),
    unset: Type.Array(Type.String()),
  }),
});

export const importTenantContent = operation({
  action: "tenants.import_content",
  route: "POST /tenants/{tenant_id}/import/content",
  summary: "Import a content or a part of one",
  description:
    "Stores `content`, or the concatenation of earlier `parts`, and returns its `hash`. With `hash` alone: whether it is " +
    "stored already. It is kept while the tenant is being imported.",
  access: operator,
  audit: false,
  body: optional({
    content: Content,
    parts: Type.Array(Hash, { maxItems: 10_000, description: "Hashes of parts stored before, in order." }),
    hash: Hash,
  }),
  answer: Type.Object({ hash: nullable(Type.String()) }),
});
