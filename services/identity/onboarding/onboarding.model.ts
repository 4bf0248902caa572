import { type DocumentOf, type Model, t, tenantSchema } from "../../../storage/model.ts";

/** The first completion of a step, or a dismissal of the guidance. `_id` combines the tenant and `key`. */
interface OnboardingDoc extends DocumentOf<typeof schema> {}

const schema = tenantSchema({
  key: t.string(),
  at: t.date(),
});
schema.index({ tenant_id: 1 });

export const OnboardingModel: Model<OnboardingDoc> = {
  erasure: { none: "configuration of the organisation" },
  move: { stage: 0 },
  name: "onboarding",
  schema,
};
