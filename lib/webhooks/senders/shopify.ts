import { hmacScheme } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Shopify",
  schemes: [hmacScheme("shopify", { header: "X-Shopify-Hmac-Sha256", encoding: "base64" })],
  secret: "In Shopify: the client secret of the app, or the key shown under Notifications → Webhooks.",
  delivery: "x-shopify-webhook-id",
  topic: ["x-shopify-topic", "x-shopify-shop-domain"],
  several: true,
  kind: "header:X-Shopify-Topic",
  fields(look) {
    const [entity, action = RECEIVED] = look("header:X-Shopify-Topic")?.split("/") ?? [];
    return {
      ...{ entity, action, subject: first(look, "/admin_graphql_api_id", "header:X-Shopify-Shop-Domain") },
      time: look("header:X-Shopify-Triggered-At"),
    };
  },
  sample: {
    payload: { id: 1001, admin_graphql_api_id: "gid://shopify/Order/1001" },
    headers: { "X-Shopify-Topic": "orders/create" },
    type: "orders.create",
  },
  // Accepted by `webhooks.validate` of @shopify/shopify-api 15.
  vector: {
    secret: "hush-hush-client-secret",
    body: '{"id":1,"ü":"ß"}',
    headers: { "X-Shopify-Hmac-Sha256": "tyT9Te963LjVEPvbXRVKl+znVIb2OPO+1ZVp4cwSyAU=" },
  },
};
