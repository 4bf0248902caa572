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
  // The first signature is that of the documents, by a secret that they do not name:
  // https://developer.pagerduty.com/docs/verifying-signatures
  vector: {
    secret: "a-signing-secret-of-pagerduty",
    body: '{"event":{"id":"01CHQ7","event_type":"incident.triggered"}}',
    headers: {
      "X-PagerDuty-Signature":
        "v1=f03de6f61df6e454f3620c4d6aca17ad072d3f8bbb2760eac3b2ad391b5e8073," +
        "v1=710ddb830b3fe88288e1f27ca75d3c2ee514cfc5274a901302f7986a59ba5f28",
    },
  },
};
