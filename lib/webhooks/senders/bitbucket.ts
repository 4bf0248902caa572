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
};
