import { HUB_256 } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "GitHub",
  schemes: [HUB_256],
  delivery: "x-github-delivery",
  topic: ["x-github-event"],
  kind: "header:X-GitHub-Event",
  fields: (look) => ({
    entity: look("header:X-GitHub-Event"),
    action: look("/action") ?? RECEIVED,
    subject: first(look, "/repository/full_name", "/organization/login"),
  }),
  sample: {
    payload: { action: "opened", issue: { number: 12 }, repository: { full_name: "acme/app" } },
    headers: { "X-GitHub-Event": "issues" },
    type: "issues.opened",
  },
};
