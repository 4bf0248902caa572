import type { InferSchemaType } from "mongoose";
import { date, type Model, string, tenantSchema } from "../../../storage/model.ts";

/** That a step was done for the first time, or that somebody put the guidance away. `_id` is of the tenant and `key`. */
interface OnboardingDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  key: string(),
  at: date(),
});
schema.index({ tenant_id: 1 });

export const OnboardingModel: Model<OnboardingDoc> = { name: "onboarding", schema };
