import type { InferSchemaType } from "mongoose";
import { date, type Model, number, tenantSchema } from "../../../storage/model.ts";

/** The number of e-mails that a tenant sent within an hour from the first one. `_id`: the tenant's. */
export interface MailBudgetDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  sent: number(),
  ends_at: date(),
});

export const MailBudgetModel: Model<MailBudgetDoc> = {
  erasure: { none: "counts" },
  name: "output_mail_budgets",
  schema,
};
