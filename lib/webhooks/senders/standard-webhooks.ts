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
  // https://github.com/standard-webhooks/standard-webhooks, the tests of its libraries
  vector: {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    at: 1614265330_000,
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
};
