import { hmacScheme } from "../schemes.ts";
import { dotted, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "PagerDuty",
  // While a secret is replaced, the header has a signature by each.
  schemes: [hmacScheme("pagerduty", { header: "X-PagerDuty-Signature", prefix: "v1=" })],
  secret: "In PagerDuty: the secret that is shown once, when the webhook subscription is created.",
  kind: "/event/event_type",
  fields: (look) => ({
    ...dotted(look("/event/event_type")),
    subject: look("/event/data/id"),
    id: look("/event/id"),
    time: look("/event/occurred_at"),
  }),
  sample: {
    payload: {
      event: {
        id: "01CHQ7JVSU1V8QQK",
        event_type: "incident.triggered",
        occurred_at: "2026-01-31T09:30:00Z",
        data: { id: "PGR0VU2", type: "incident", title: "A little bump in the road" },
      },
    },
    type: "incident.triggered",
  },
};
