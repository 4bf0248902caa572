import { HUB } from "../schemes.ts";
import { dotted, first, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Jira",
  schemes: [HUB],
  delivery: "x-atlassian-webhook-identifier",
  kind: "/webhookEvent",
  fields: (look) => ({
    ...dotted(look("/webhookEvent")?.replace(/^jira:/, ""), "_"),
    subject: first(look, "/issue/key", "/project/key", "/sprint/id", "/version/id", "/user/accountId"),
    time: look("/timestamp"),
  }),
  sample: {
    payload: { webhookEvent: "jira:issue_updated", timestamp: 1769851800000, issue: { key: "APP-12" } },
    type: "issue.updated",
  },
  // https://developer.atlassian.com/cloud/jira/platform/webhooks/
  vector: {
    secret: "It's a Secret to Everybody",
    body: "Hello World!",
    headers: { "X-Hub-Signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9" },
  },
};
