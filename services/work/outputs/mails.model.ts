import { Schema } from "mongoose";
import type { TenantDocument } from "../../../storage/collection.ts";
import type { Model } from "../../runtime.ts";

/** How many e-mails a tenant has sent in an hour that began with one of them. `_id`: the tenant's. */
export interface MailBudgetDoc extends TenantDocument {
  sent: number;
  ends_at: Date;
}

const schema = new Schema<MailBudgetDoc>(
  { _id: String, tenant_id: String, sent: Number, ends_at: Date },
  { versionKey: false },
);

export const MailBudgetModel: Model<MailBudgetDoc> = { name: "output_mail_budgets", schema };
