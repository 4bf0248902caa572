import { HUB } from "../schemes.ts";
import { dotted, first, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Bitbucket",
  schemes: [HUB],
  delivery: "x-request-uuid",
  topic: ["x-event-key"],
  kind: "header:X-Event-Key",
  fields: (look) => ({
    ...dotted(look("header:X-Event-Key"), ":"),
    subject: first(look, "/repository/full_name", "/repository/slug", "/pullRequest/toRef/repository/slug"),
    time: first(look, "/pullrequest/updated_on", "/date"),
  }),
  sample: {
    payload: { repository: { full_name: "acme/app" }, push: { changes: [] } },
    headers: { "X-Event-Key": "repo:push" },
    type: "repo.push",
  },
  // https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
  vector: {
    secret: "It's a Secret to Everybody",
    body: "Hello World!",
    headers: { "X-Hub-Signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9" },
  },
};
