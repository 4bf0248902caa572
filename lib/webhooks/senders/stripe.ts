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
};
