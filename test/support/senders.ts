import { createHash, createHmac, randomUUID } from "node:crypto";
import { hexSignature } from "./webhooks.ts";

type Headers = Record<string, string>;

/** A request as a sender makes it. */
export type Sent = { body: string; headers: Headers };

const JSON_TYPE = { "Content-Type": "application/json" };
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

/** Slack: https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function slackHeaders(secret: string, body: string, at = Date.now()): Headers {
  const time = String(Math.floor(at / 1000));
  return {
    "X-Slack-Request-Timestamp": time,
    "X-Slack-Signature": `v0=${hexSignature(secret, `v0:${time}:${body}`)}`,
  };
}

/** Stripe: https://docs.stripe.com/webhooks/signature */
export function stripeHeaders(secret: string, body: string, at = Date.now()): Headers {
  const time = String(Math.floor(at / 1000));
  return { "Stripe-Signature": `t=${time},v1=${hexSignature(secret, `${time}.${body}`)}` };
}

/** Shopify: https://shopify.dev/docs/apps/build/webhooks/subscribe/https */
export function shopifyRequest(secret: string, topic: string, payload: unknown): Sent {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      ...JSON_TYPE,
      "X-Shopify-Topic": topic,
      "X-Shopify-Shop-Domain": "acme.myshopify.com",
      "X-Shopify-Webhook-Id": randomUUID(),
      "X-Shopify-Triggered-At": "2026-01-31T09:30:00.123456789Z",
      "X-Shopify-Hmac-Sha256": createHmac("sha256", secret).update(body).digest("base64"),
    },
  };
}

/** Linear: https://linear.app/developers/webhooks */
export function linearRequest(secret: string, payload: object, at = Date.now()): Sent {
  const body = JSON.stringify({ ...payload, webhookTimestamp: at });
  const signature = hexSignature(secret, body);
  return { body, headers: { ...JSON_TYPE, "Linear-Delivery": randomUUID(), "Linear-Signature": signature } };
}

/** Sentry: https://docs.sentry.io/integrations/integration-platform/webhooks/ */
export function sentryRequest(secret: string, resource: string, payload: unknown): Sent {
  const body = JSON.stringify(payload);
  return {
    body,
    headers: {
      ...JSON_TYPE,
      "Request-ID": randomUUID(),
      "Sentry-Hook-Resource": resource,
      "Sentry-Hook-Timestamp": "1769851800",
      "Sentry-Hook-Signature": hexSignature(secret, body),
    },
  };
}

/** GitLab's secret token: https://docs.gitlab.com/user/project/integrations/webhooks/ */
export function gitlabRequest(secret: string, payload: unknown): Sent {
  const headers = { ...JSON_TYPE, "Idempotency-Key": randomUUID(), "X-Gitlab-Token": secret };
  return { body: JSON.stringify(payload), headers };
}

/** Twilio: https://www.twilio.com/docs/usage/webhooks/webhooks-security */
export function twilioForm(secret: string, url: string, fields: Headers): Sent {
  const names = Object.keys(fields).sort();
  const text = url + names.map((name) => name + fields[name]).join("");
  return {
    body: String(new URLSearchParams(fields)),
    headers: {
      ...FORM,
      "X-Twilio-Signature": sha1(secret, text),
      "I-Twilio-Idempotency-Token": randomUUID(),
    },
  };
}

/** A JSON body of Twilio, whose hash is in the address. */
export function twilioJson(secret: string, at: string, payload: unknown): Sent & { url: string } {
  const body = JSON.stringify(payload);
  const url = `${at}?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
  return { url, body, headers: { ...JSON_TYPE, "X-Twilio-Signature": sha1(secret, url) } };
}

const sha1 = (secret: string, text: string) => createHmac("sha1", secret).update(text).digest("base64");
