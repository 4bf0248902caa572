import { Type } from "typebox";
import { component, nullable, operation, optional } from "../../lib/contract/contract.ts";
import { SECRET, Timestamp } from "../../lib/contract/schema.ts";
import { delivery } from "../../services/sense/ingest/ingest.contract.ts";
import { Assignees } from "../../services/work/approvals/approvals.contract.ts";

const admin = { by: "org_admin", scope: "admin" } as const;

const ChannelAssignees = Assignees(
  1,
  "The assignees that the channel stands for: questions to them are posted, and everybody in the channel may answer " +
    "those. Default: `admins`.",
);

const SlackChannel = component("SlackChannel", {
  host: Type.String({ description: "Host of the incoming webhook.", examples: ["hooks.slack.com"] }),
  request_url: Type.String({
    format: "uri",
    description: "The Request URL for the Interactivity settings of the Slack app.",
    examples: ["https://sensorium.example.com/slack/acme"],
  }),
  assignees: ChannelAssignees,
  last_error: nullable(
    Type.String({
      description: "Why the last message was not delivered; it is retried. Null if it was.",
      examples: ["the endpoint responded with 404"],
    }),
  ),
  updated_at: Timestamp,
});

export const setApprovalSlack = operation({
  action: "approvals.set_slack",
  route: "PUT /approval-channels/slack",
  summary: "Have questions posted to a Slack channel and answered there",
  description:
    "Requires both secrets at first; what is left out later stays. Everybody who can use the channel's buttons may answer what is posted there: use a private " +
    "channel. Neither secret is returned.",
  access: admin,
  overQuota: true,
  body: {
    ...optional({
      webhook_url: Type.String({
        ...SECRET,
        minLength: 1,
        maxLength: 2048,
        description: "Incoming webhook of the Slack app.",
        examples: ["https://hooks.slack.com/services/T0/B0/x"],
      }),
      signing_secret: Type.String({
        ...SECRET,
        pattern: "^[!-~]{16,256}$",
        "x-expected": "16 to 256 printable ASCII characters without spaces",
        description: "Signing secret of the Slack app.",
        examples: ["8f742231b10e8888abcd99yyyzzz85a5"],
      }),
      assignees: ChannelAssignees,
    }),
  },
  answer: SlackChannel,
  errors: ["validation_error"],
});

export const getApprovalSlack = operation({
  action: "approvals.get_slack",
  route: "GET /approval-channels/slack",
  summary: "Read the settings of the Slack channel for questions",
  access: admin,
  answer: SlackChannel,
  errors: ["not_found"],
});

export const deleteApprovalSlack = operation({
  action: "approvals.delete_slack",
  route: "DELETE /approval-channels/slack",
  summary: "Post no more questions to Slack, and take no more answers from there",
  access: admin,
  errors: ["not_found"],
});

export const answerBySlack = operation({
  action: "approvals.answer_slack",
  route: "POST /slack/{tenant_slug}",
  root: true,
  summary: "Answer an approval by a button in Slack",
  description:
    "The Request URL of the Slack app: a form whose `payload` is Slack's JSON of a click, signed with the app's signing " +
    "secret at most 5 minutes ago. Any other request gets the same 401, whether or not the tenant exists. The message " +
    "that says how it went is the answer, and is sent to the `response_url`.",
  access: { by: "public" },
  consumes: "raw",
  maxBody: 262_144,
  path: { tenant_slug: Type.String({ description: "Slug of the tenant." }) },
  body: delivery,
  answer: Type.Object(
    {},
    { additionalProperties: true, title: "SlackMessage", description: "A message of Slack's Block Kit." },
  ),
  errors: ["authentication_failed", "validation_error", "rate_limited"],
});
