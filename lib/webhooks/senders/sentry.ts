import { hmacScheme } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Sentry",
  schemes: [hmacScheme("sentry", { header: "Sentry-Hook-Signature" })],
  secret: "In Sentry: the client secret of the integration.",
  delivery: "request-id",
  topic: ["sentry-hook-resource"],
  kind: "header:Sentry-Hook-Resource",
  fields: (look) => ({
    entity: look("header:Sentry-Hook-Resource"),
    action: look("/action") ?? RECEIVED,
    subject: first(
      look,
      ...["/data/issue/web_url", "/data/issue/permalink", "/data/event/web_url", "/data/error/web_url"],
      ...["/data/web_url", "/data/issue/id", "/data/issue_id", "/data/installation/uuid"],
    ),
    time: look("header:Sentry-Hook-Timestamp"),
  }),
  sample: {
    payload: { action: "created", data: { issue: { id: "12", title: "TypeError" } } },
    headers: { "Sentry-Hook-Resource": "issue" },
    type: "issue.created",
  },
  vector: {
    secret: "a-client-secret-of-sentry",
    body: '{"action":"created"}',
    headers: { "Sentry-Hook-Signature": "a8e80d2d0ae7a909cc624058a1b06b00b3eac20fb5d0b11f4a1e5922628a38c6" },
  },
};
