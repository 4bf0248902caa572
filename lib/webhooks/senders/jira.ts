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
};
