import { type DocumentOf, type Model, t, tenantSchema } from "../../storage/model.ts";

/** The Slack channel to which a tenant's questions are posted. Its `_id` is the tenant's. */
export interface SlackChannelDoc extends DocumentOf<typeof schema> {}

/** The sealed settings of a channel. */
export interface SlackSecrets {
  webhook_url: string;
  signing_secret: string;
}

/** Returns where the secrets of a channel are sealed. */
export function slackPlace(_id: string): string {
  return `approval_slack/${_id}`;
}

const schema = tenantSchema({
  /** A `SlackSecrets` as JSON. */
  sealed: t.sealed(slackPlace),
  assignees: t.array(t.string()),
  last_error: t.nullable(t.text()),
  updated_at: t.date(),
});

export const SlackChannelModel: Model<SlackChannelDoc> = {
  erasure: { replaced: { of: [] } },
  move: { stage: 2, withoutSecrets: "left out" },
  name: "approval_slack",
  schema,
};
