import { hmacScheme } from "../schemes.ts";
import { dotted, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Zendesk",
  schemes: [
    hmacScheme("zendesk", {
      header: "X-Zendesk-Webhook-Signature",
      encoding: "base64",
      template: "{timestamp}{body}",
      timestamp_header: "X-Zendesk-Webhook-Signature-Timestamp",
    }),
  ],
  secret: "In Zendesk: Reveal secret, on the page of the webhook.",
  delivery: "x-zendesk-webhook-invocation-id",
  kind: "/type",
  fields: (look) => ({
    ...dotted(look("/type")?.replace(/^zen:event-type:/, "")),
    subject: look("/subject"),
    id: look("/id"),
    time: look("/time"),
  }),
  sample: {
    payload: {
      id: "fb5d0f0f-8f4b-4ee9-8ab4-c0d1e5a1ed2d",
      type: "zen:event-type:ticket.created",
      subject: "zen:ticket:12",
      time: "2026-01-31T09:30:00Z",
      detail: { id: "12", subject: "The printer is on fire" },
    },
    type: "ticket.created",
  },
  // The secret that signs the tests of a new webhook: https://developer.zendesk.com/documentation/webhooks/verifying/
  vector: {
    secret: "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
    at: Date.parse("2021-03-25T05:09:27Z"),
    body: '{"event":"ticket.updated","id":123}',
    headers: {
      "X-Zendesk-Webhook-Signature": "S/RDdU2ERmj7LHDDoWJ2onPYH+t7/f2+LTM4dL7UiLM=",
      "X-Zendesk-Webhook-Signature-Timestamp": "2021-03-25T05:09:27Z",
    },
  },
};
