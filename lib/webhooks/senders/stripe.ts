import { hmacScheme } from "../schemes.ts";
import { dotted, first, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Stripe",
  schemes: [
    hmacScheme("stripe", {
      header: "Stripe-Signature",
      prefix: "v1=",
      template: "{timestamp}.{body}",
      timestamp_header: "Stripe-Signature",
      timestamp_prefix: "t=",
    }),
  ],
  secret: "In Stripe: the signing secret of the endpoint.",
  kind: "/type",
  fields: (look) => ({
    ...dotted(look("/type")),
    subject: first(look, "/data/object/id", "/related_object/id"),
    id: look("/id"),
    time: look("/created"),
  }),
  sample: {
    payload: { id: "evt_1", type: "invoice.paid", data: { object: { id: "in_1" } } },
    type: "invoice.paid",
  },
  // By `webhooks.generateTestHeaderString` of stripe 23.
  vector: {
    secret: "whsec_8f742231b10e8888abcd99yyyzzz85a5",
    at: 1769851800_000,
    body: '{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}',
    headers: {
      "Stripe-Signature": "t=1769851800,v1=23e61300a59ec1c17ff42be23096547e11c247bbb2900d5797dcdbbea287af8c",
    },
  },
};
