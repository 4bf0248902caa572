import type { InferSchemaType } from "mongoose";
import { type Model, number, tenantSchema } from "../model.ts";

/** A tenant's access version. `_id` is the tenant's. */
export interface AccessVersionDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  /** Raised by every change that may end or restrict a caller's access, before the change is answered. */
  version: number(),
});

export const AccessVersionModel: Model<AccessVersionDoc> = {
  erasure: { none: "counts" },
  name: "access_versions",
  schema,
};
