import { HUB_256 } from "../schemes.ts";
import { first, parameter, RECEIVED, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Meta (WhatsApp, Instagram, Messenger)",
  schemes: [HUB_256],
  status: 200,
  kind: "/object",
  fields: (look) => ({
    entity: look("/object"),
    action:
      look("/entry/0/changes/0/field") ?? (look("/entry/0/messaging/0/timestamp") ? "messaging" : RECEIVED),
    subject: first(look, "/entry/0/id"),
    time: look("/entry/0/time"),
  }),
  handshake: {
    about: "`GET` with `hub.challenge`, answered if `hub.verify_token` is a secret of the webhook",
    challenge(request) {
      const echo = parameter(request, "hub.challenge", /^[\w.-]{1,256}$/);
      const token = parameter(request, "hub.verify_token", /^.{1,300}$/);
      const isMode = request.query.get("hub.mode") === "subscribe";
      return request.method === "GET" && isMode && echo !== null && token !== null ? { echo, token } : null;
    },
  },
  sample: {
    payload: {
      object: "whatsapp_business_account",
      entry: [{ id: "102290129340398", changes: [{ field: "messages", value: { messages: [] } }] }],
    },
    type: "whatsapp_business_account.messages",
  },
  // The scheme's example is GitHub's; Meta publishes none.
  vector: {
    secret: "an-app-secret-of-meta",
    body: '{"object":"whatsapp_business_account","entry":[]}',
    headers: {
      "X-Hub-Signature-256": "sha256=5fd6315cd5d27bb9d79a3e4146713970f8163f5752b774c632451d30fe368e9c",
    },
  },
};
