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
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  vector: {
    secret: "It's a Secret to Everybody",
    body: "Hello, World!",
    headers: {
      "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
  },
};
