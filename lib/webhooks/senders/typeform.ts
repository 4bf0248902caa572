import { hmacScheme } from "../schemes.ts";
import { RECEIVED, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Typeform",
  // https://www.typeform.com/developers/webhooks/secure-your-webhooks/
  schemes: [hmacScheme("typeform", { header: "Typeform-Signature", prefix: "sha256=", encoding: "base64" })],
  kind: "/event_type",
  fields: (look) => ({
    entity: look("/event_type"),
    action: RECEIVED,
    subject: look("/form_response/form_id"),
    id: look("/event_id"),
    time: look("/form_response/submitted_at"),
  }),
  sample: {
    payload: {
      event_id: "LtWXD3crgy",
      event_type: "form_response",
      form_response: { form_id: "lT4Z3j", submitted_at: "2026-01-31T09:30:00Z", answers: [] },
    },
    type: "form_response.received",
  },
  vector: {
    secret: "a-secret-for-typeform",
    body: '{"event_id":"LtWXD3crgy","event_type":"form_response"}',
    headers: { "Typeform-Signature": "sha256=8GxPLAgxqFq8Co+y9bGe8IiUg4fJ6VyyzVwmFQyR9HQ=" },
  },
};
