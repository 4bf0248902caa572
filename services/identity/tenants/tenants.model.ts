import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";
import type { TenantStatus } from "./tenants.contract.ts";

/** A tenant. `tenant_id` is its own `_id`. */
export interface TenantDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  /** Names it in URLs; its id once it is erased, which frees the slug. */
  slug: t.string(),
  name: t.string(),
  status: t.string<TenantStatus>(),
  /** Raised by each suspension; absent before the first. */
  token_version: t.optional(t.number()),
  /** Raised by every change of interests, feeds, members and agents, before the change is answered. */
  routing_version: t.number(),
  /** The latest changes, the last of them last: routing tables read only what changed (tenants.service.ts). */
  routing_changes: t.optional(t.array(t.string())),
  /** Its own limit, 0 for none; absent for that of the installation. */
  requests_per_minute: t.optional(t.number()),
  created_at: t.date(),
  updated_at: t.date(),
  /** When its rows are to be erased (again): set while a node may still write some. */
  erase_due_at: t.optional(t.date()),
  /** The export that its rows were, or are being, imported from; absent if it was created here. */
  export_id: t.optional(t.string()),
  /** Rows of the import were refused since it began, or began again: it cannot be completed. */
  import_refused: t.optional(t.boolean()),
});
schema.index({ slug: 1 }, { unique: true });
schema.index({ erase_due_at: 1 }, { sparse: true });

export const TenantModel: Model<TenantDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { none: "created by the import, which reserves the slug" },
  name: "tenants",
  schema,
};
