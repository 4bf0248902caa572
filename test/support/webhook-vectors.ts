/** A request as its sender documents it, or as the sender's own library makes it. */
export interface Vector {
  secret: string;
  body: string;
  headers: Record<string, string>;
  /** Its time, in ms. */
  at?: number;
  url?: string;
}

/** Those of all senders of webhooks (lib/webhooks/senders.ts). */
export const VECTORS: Record<string, Vector> = {
  // https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/
  bitbucket: {
    secret: "It's a Secret to Everybody",
    body: "Hello World!",
    headers: { "X-Hub-Signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9" },
  },
  // The body of https://www.dropbox.com/developers/reference/webhooks, whose secret is not published.
  dropbox: {
    secret: "an-app-secret-of-dropbox",
    body: '{"list_folder":{"accounts":["dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc"]},"delta":{"users":[12345678]}}',
    headers: { "X-Dropbox-Signature": "fa41a268108c8b2b7cde8c66f3d05ad1a7c2da9742f66e888e44fb525477ed05" },
  },
  // https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  github: {
    secret: "It's a Secret to Everybody",
    body: "Hello, World!",
    headers: {
      "X-Hub-Signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    },
  },
  gitlab: {
    secret: "a-secret-token-of-gitlab",
    body: "{}",
    headers: { "X-Gitlab-Token": "a-secret-token-of-gitlab" },
  },
  // https://developer.atlassian.com/cloud/jira/platform/webhooks/
  jira: {
    secret: "It's a Secret to Everybody",
    body: "Hello World!",
    headers: { "X-Hub-Signature": "sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9" },
  },
  // Accepted by `LinearWebhookClient.verify` of @linear/sdk 98.
  linear: {
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    at: 1769851800_000,
    body: '{"type":"Issue","action":"create","webhookTimestamp":1769851800000}',
    headers: { "Linear-Signature": "c7774cf423e3944aa8e61caca4a14cd25e5c824ed6dfb352e576a11135a0f9dc" },
  },
  // The scheme's example is GitHub's; Meta publishes none.
  meta: {
    secret: "an-app-secret-of-meta",
    body: '{"object":"whatsapp_business_account","entry":[]}',
    headers: {
      "X-Hub-Signature-256": "sha256=5fd6315cd5d27bb9d79a3e4146713970f8163f5752b774c632451d30fe368e9c",
    },
  },
  // As https://learn.microsoft.com/graph/change-notifications-delivery-webhooks shows.
  microsoft_graph: {
    secret: "a-client-state-of-32-characters.",
    body: '{"value":[{"subscriptionId":"d0e1f2a3","clientState":"a-client-state-of-32-characters.","changeType":"created"}]}',
    headers: {},
  },
  // The first signature is that of the documents, by a secret that they do not name:
  // https://developer.pagerduty.com/docs/verifying-signatures
  pagerduty: {
    secret: "a-signing-secret-of-pagerduty",
    body: '{"event":{"id":"01CHQ7","event_type":"incident.triggered"}}',
    headers: {
      "X-PagerDuty-Signature":
        "v1=f03de6f61df6e454f3620c4d6aca17ad072d3f8bbb2760eac3b2ad391b5e8073," +
        "v1=710ddb830b3fe88288e1f27ca75d3c2ee514cfc5274a901302f7986a59ba5f28",
    },
  },
  sentry: {
    secret: "a-client-secret-of-sentry",
    body: '{"action":"created"}',
    headers: { "Sentry-Hook-Signature": "a8e80d2d0ae7a909cc624058a1b06b00b3eac20fb5d0b11f4a1e5922628a38c6" },
  },
  // Accepted by `webhooks.validate` of @shopify/shopify-api 15.
  shopify: {
    secret: "hush-hush-client-secret",
    body: '{"id":1,"ü":"ß"}',
    headers: { "X-Shopify-Hmac-Sha256": "tyT9Te963LjVEPvbXRVKl+znVIb2OPO+1ZVp4cwSyAU=" },
  },
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  slack: {
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    at: 1531420618_000,
    body:
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
      "channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=" +
      "https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
      "trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    headers: {
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
  },
  // https://github.com/standard-webhooks/standard-webhooks, the tests of its libraries
  standard_webhooks: {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    at: 1614265330_000,
    body: '{"test": 2432232314}',
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    },
  },
  // By `webhooks.generateTestHeaderString` of stripe 23.
  stripe: {
    secret: "whsec_8f742231b10e8888abcd99yyyzzz85a5",
    at: 1769851800_000,
    body: '{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}',
    headers: {
      "Stripe-Signature": "t=1769851800,v1=23e61300a59ec1c17ff42be23096547e11c247bbb2900d5797dcdbbea287af8c",
    },
  },
  // https://twilio-php-atbaker.readthedocs.io/en/latest/usage/validation.html and the tests of its libraries
  twilio: {
    secret: "12345",
    url: "https://mycompany.com/myapp.php?foo=1&bar=2",
    body: "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
      "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
    },
  },
  typeform: {
    secret: "a-secret-for-typeform",
    body: '{"event_id":"LtWXD3crgy","event_type":"form_response"}',
    headers: { "Typeform-Signature": "sha256=8GxPLAgxqFq8Co+y9bGe8IiUg4fJ6VyyzVwmFQyR9HQ=" },
  },
  // As https://docs.x.com/x-api/webhooks/quickstart describes; X publishes no example with its secret.
  x: {
    secret: "a-consumer-secret-of-an-app-at-x-of-50-characters.",
    body: '{"for_user_id":"2244994945","tweet_create_events":[]}',
    headers: { "x-twitter-webhooks-signature": "sha256=toN3d9l8L/Vqy3Gfb1hFMp0XkMr8lQXdX49UFvlsgeE=" },
  },
  // The secret that signs the tests of a new webhook: https://developer.zendesk.com/documentation/webhooks/verifying/
  zendesk: {
    secret: "dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==",
    at: Date.parse("2021-03-25T05:09:27Z"),
    body: '{"event":"ticket.updated","id":123}',
    headers: {
      "X-Zendesk-Webhook-Signature": "S/RDdU2ERmj7LHDDoWJ2onPYH+t7/f2+LTM4dL7UiLM=",
      "X-Zendesk-Webhook-Signature-Timestamp": "2021-03-25T05:09:27Z",
    },
  },
  // The body of https://developers.zoom.us/docs/api/webhooks/, whose secret is not published.
  zoom: {
    secret: "a-secret-token-of-zoom",
    at: 1654503849_000,
    body: '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}',
    headers: {
      "x-zm-request-timestamp": "1654503849",
      "x-zm-signature": "v0=60db5fc406dc71aa51f3f76e94fe03ba40a545981ba601da4f151b5e73ca137a",
    },
  },
};
