import type { InferSchemaType } from "mongoose";
import { date, type Model, number, tenantSchema } from "../../../storage/model.ts";

/** How many e-mails a tenant has sent in an hour that began with one of them. `_id`: the tenant's. */
export interface MailBudgetDoc extends InferSchemaType<typeof schema> {}

const schema = tenantSchema({
  sent: number(),
  ends_at: date(),
});

export const MailBudgetModel: Model<MailBudgetDoc> = { name: "output_mail_budgets", schema };
