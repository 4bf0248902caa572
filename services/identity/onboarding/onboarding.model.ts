import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** That a step was done for the first time, or that somebody put the guidance away. `_id` is of the tenant and `key`. */
interface OnboardingDoc extends TenantDocument {
  key: string;
  at: Date;
}

const schema = new Schema<OnboardingDoc>(
  { _id: String, tenant_id: String, key: String, at: Date },
  { versionKey: false },
);
schema.index({ tenant_id: 1 });

export const OnboardingModel: Model<OnboardingDoc> = { name: "onboarding", schema };
