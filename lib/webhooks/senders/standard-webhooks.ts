import { STANDARD_WEBHOOKS, SVIX } from "../schemes.ts";
import { dotted, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Standard Webhooks (also Svix)",
  schemes: [STANDARD_WEBHOOKS, SVIX],
  secret: "The secret that the sender shows, which begins with whsec_.",
  kind: "/type",
  fields: (look) => ({ ...dotted(look("/type")), subject: look("/data/id"), time: look("/timestamp") }),
  sample: {
    payload: { type: "user.created", timestamp: "2026-01-31T09:30:00Z", data: { id: "u1" } },
    type: "user.created",
  },
};
