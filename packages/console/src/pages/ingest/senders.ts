import type { Webhook } from "../../../../client/index.ts";

/** The name of a format: CloudEvents or a preset. */
export type FormatName = Extract<Webhook["mapping"], string>;

interface Sender {
  title: string;
  /** Where the sender shows the secret that it signs with; absent if it takes one from here. */
  secret?: string;
  sample: { payload: unknown; headers?: string };
}

/** Senders with a preset, in the order of the list. */
export const SENDERS: Record<Exclude<FormatName, "cloudevents">, Sender> = {
  github: {
    title: "GitHub",
    sample: {
      payload: { action: "opened", issue: { number: 12 }, repository: { full_name: "acme/app" } },
      headers: "X-GitHub-Event: issues",
    },
  },
  gitlab: {
    title: "GitLab",
    sample: {
      payload: {
        object_kind: "issue",
        project: { path_with_namespace: "acme/app" },
        object_attributes: { iid: 12, action: "open" },
      },
    },
  },
  slack: {
    title: "Slack",
    secret: "In Slack: Basic Information → App Credentials → Signing Secret.",
    sample: {
      payload: {
        type: "event_callback",
        event_id: "Ev08MFMKH6",
        event: { type: "app_mention", channel: "C061EG9T2", text: "hello" },
      },
    },
  },
  stripe: {
    title: "Stripe",
    secret: "In Stripe: the signing secret of the endpoint.",
    sample: { payload: { id: "evt_1", type: "invoice.paid", data: { object: { id: "in_1" } } } },
  },
  shopify: {
    title: "Shopify",
    secret: "In Shopify: the client secret of the app, or the key shown under Notifications → Webhooks.",
    sample: {
      payload: { id: 1001, admin_graphql_api_id: "gid://shopify/Order/1001" },
      headers: "X-Shopify-Topic: orders/create",
    },
  },
  twilio: {
    title: "Twilio",
    secret: "In Twilio: the auth token of the account.",
    sample: { payload: { MessageSid: "SM1", SmsStatus: "received", From: "+4915100000000", Body: "hello" } },
  },
  linear: {
    title: "Linear",
    secret: "In Linear: the signing secret on the page of the webhook.",
    sample: {
      payload: {
        type: "Issue",
        action: "create",
        url: "https://linear.app/acme/issue/APP-12",
        data: { id: "1" },
      },
    },
  },
  sentry: {
    title: "Sentry",
    secret: "In Sentry: the client secret of the integration.",
    sample: {
      payload: { action: "created", data: { issue: { id: "12", title: "TypeError" } } },
      headers: "Sentry-Hook-Resource: issue",
    },
  },
  standard_webhooks: {
    title: "Standard Webhooks (also Svix)",
    secret: "The secret that the sender shows, which begins with whsec_.",
    sample: { payload: { type: "user.created", timestamp: "2026-01-31T09:30:00Z", data: { id: "u1" } } },
  },
};

/** Returns the sender of a format; undefined for CloudEvents and own mappings. */
export function senderOf(format: Webhook["mapping"]): Sender | undefined {
  return typeof format === "string" && format !== "cloudevents" ? SENDERS[format] : undefined;
}
