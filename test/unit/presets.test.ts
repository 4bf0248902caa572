import { describe, expect, test } from "@jest/globals";
import { type CloudEvent, checkCloudEvent } from "../../lib/cloudevents/cloudevents.ts";
import type { Sender } from "../../lib/webhooks/sender.ts";
import { SENDERS } from "../../lib/webhooks/senders.ts";
import { presetMapping } from "../../services/sense/ingest/webhooks.ts";
import { githubDeliveries } from "../support/github.ts";

const NOW = "2026-01-31T09:30:00.000Z";

function map(name: string, payload: unknown, headers: Record<string, string> = {}) {
  const receipt = {
    ...{ registration_id: "whk_1", default_id: "d-1", ce_source: `/w/acme/${name}` },
    ...{ headers, now: Date.parse(NOW) },
  };
  const mapped = presetMapping(SENDERS.get(name) as Sender, name)(payload, receipt);
  if ("error" in mapped) return mapped.error;
  const { type, id, subject, time, data } = checkCloudEvent(mapped.event) as CloudEvent;
  expect(data).toEqual(payload);
  return { type, id, subject, time };
}

const of = (type: string, subject?: string, time = NOW, id = "d-1") => ({
  ...{ type, id: `whk_1:${id}`, subject, time },
});

/** The preset is named by its events' type. */
const cases: [
  what: string,
  payload: object,
  expected: ReturnType<typeof of>,
  headers?: Record<string, string>,
][] = [
  [
    "a push of GitHub, which has no action",
    { ref: "refs/heads/main", repository: { full_name: "acme/app" } },
    of("com.github.push.received", "acme/app"),
    { "x-github-event": "push" },
  ],
  [
    "an issue of GitLab",
    {
      object_kind: "issue",
      project: { path_with_namespace: "acme/app" },
      object_attributes: { action: "open", updated_at: "2026-01-30 17:15:43 UTC" },
    },
    of("com.gitlab.issue.open", "acme/app", "2026-01-30T17:15:43.000Z"),
  ],
  [
    "a pipeline of GitLab",
    { object_kind: "pipeline", object_attributes: { status: "success" } },
    of("com.gitlab.pipeline.success"),
  ],
  [
    "a message in Slack",
    {
      ...{ type: "event_callback", event_id: "Ev1", event_time: 1769851800 },
      event: { type: "app_mention", channel: "C1", user: "U1" },
    },
    of("com.slack.event.app_mention", "C1", NOW, "Ev1"),
  ],
  [
    "a new channel in Slack",
    { type: "event_callback", event_id: "Ev2", event: { type: "channel_created", channel: { id: "C2" } } },
    of("com.slack.event.channel_created", "C2", NOW, "Ev2"),
  ],
  [
    "a command in Slack",
    { command: "/deploy-app", text: "now", channel_id: "C1", trigger_id: "1.2" },
    of("com.slack.command.deploy-app", "C1"),
  ],
  [
    "a button in Slack",
    { type: "block_actions", channel: { id: "C1" }, user: { id: "U1" } },
    of("com.slack.interaction.block_actions", "C1"),
  ],
  [
    "an invoice of Stripe",
    {
      ...{ id: "evt_9", type: "customer.subscription.updated", created: 1769851800 },
      data: { object: { id: "sub_1" } },
    },
    of("com.stripe.customer_subscription.updated", "sub_1", NOW, "evt_9"),
  ],
  [
    "an order of Shopify",
    { id: 8209829119, admin_graphql_api_id: "gid://shopify/Order/1" },
    of("com.shopify.orders.create", "gid://shopify/Order/1", "2026-01-31T09:00:00.123Z"),
    { "x-shopify-topic": "orders/create", "x-shopify-triggered-at": "2026-01-31T09:00:00.123456789Z" },
  ],
  [
    "a message that Twilio has sent",
    { MessageSid: "SM1", SmsSid: "SM1", MessageStatus: "delivered", SmsStatus: "delivered" },
    of("com.twilio.message.delivered", "SM1"),
  ],
  [
    "a message to Twilio",
    { MessageSid: "SM2", SmsSid: "SM2", SmsStatus: "received", Body: "hello" },
    of("com.twilio.message.received", "SM2"),
  ],
  [
    "a recording of a call at Twilio",
    { CallSid: "CA1", RecordingSid: "RE1", RecordingStatus: "completed" },
    of("com.twilio.recording.completed", "RE1"),
  ],
  [
    "an issue in Linear",
    {
      ...{ type: "Issue", action: "create", createdAt: "2026-01-31T09:00:00.5Z" },
      ...{ url: "https://linear.app/acme/issue/A-1", webhookTimestamp: 1 },
    },
    of("com.linear.issue.create", "https://linear.app/acme/issue/A-1", "2026-01-31T09:00:00.500Z"),
  ],
  [
    "an issue in Sentry",
    { action: "created", data: { issue: { id: "7", web_url: "https://acme.sentry.io/issues/7/" } } },
    of("com.sentry.issue.created", "https://acme.sentry.io/issues/7/"),
    { "sentry-hook-resource": "issue", "sentry-hook-timestamp": "1769851800" },
  ],
  [
    "a sender of Standard Webhooks",
    { type: "user.created", timestamp: "2026-01-31T09:00:00Z", data: { id: "u1" } },
    of("com.standard_webhooks.user.created", "u1", "2026-01-31T09:00:00.000Z"),
  ],
  [
    "a request of Bitbucket Server",
    { date: "2026-01-31T10:00:00+0100", pullRequest: { toRef: { repository: { slug: "app" } } } },
    of("com.bitbucket.pr.opened", "app", "2026-01-31T09:00:00.000Z"),
    { "x-event-key": "pr:opened" },
  ],
  [
    "a comment in Jira",
    { webhookEvent: "comment_created", issue: { key: "APP-1" } },
    of("com.jira.comment.created", "APP-1"),
  ],
  [
    "an event of Zoom, known by its content",
    {
      ...{ event: "meeting.participant_joined", event_ts: 1769851800000 },
      payload: { object: { id: "77", uuid: "u==", participant: { participant_uuid: "p" } } },
    },
    of(
      "com.zoom.meeting.participant_joined",
      "77",
      NOW,
      "meeting.participant_joined:1769851800000:u==:77:p:",
    ),
  ],
  [
    "a message in Messenger",
    { object: "page", entry: [{ id: "5", time: 1769851800000, messaging: [{ timestamp: 1769851800000 }] }] },
    of("com.meta.page.messaging", "5"),
  ],
  ["a like at X", { for_user_id: "3", favorite_events: [{ id: "f" }] }, of("com.x.favorite.received", "3")],
  [
    "an event of X's Activity API",
    { data: { event_type: "profile.update.bio" } },
    of("com.x.profile_update.bio"),
  ],
  [
    "the end of a subscription at Microsoft Graph",
    { value: [{ lifecycleEvent: "subscriptionRemoved" }] },
    of("com.microsoft_graph.lifecycle.subscriptionremoved"),
  ],
  ...["yesterday", "Dec 5", "5", "2026-02-30T09:00:00Z", "2026-01-31", "2026-01-31T09:00:00"].map(
    (createdAt): (typeof cases)[0] => [
      `the time ${createdAt}, which cannot be read`,
      { type: "Issue", action: "create", createdAt },
      of("com.linear.issue.create"),
    ],
  ),
];

describe("a preset maps", () => {
  test.each(cases)("%s", (_, payload, expected, headers = {}) =>
    expect(map(expected.type.split(".")[1] as string, payload, headers)).toEqual(expected),
  );

  test("every example of GitHub", () => {
    for (const { name, payload } of githubDeliveries()) {
      const mapped = map("github", payload, { "x-github-event": name });
      expect(mapped).toMatchObject({ type: `com.github.${name}.${payload.action ?? "received"}` });
    }
  });
});

test.each([...SENDERS])("%s maps its own sample, without its secret", (name, { sample, vector, data }) => {
  const headers = Object.entries(sample.headers ?? {}).map(([header, value]) => [
    header.toLowerCase(),
    value,
  ]);
  const mapped = map(name, sample.payload, Object.fromEntries(headers));
  expect(mapped).toMatchObject({ type: `com.${name}.${sample.type}` });
  if (data) expect(JSON.stringify(data(JSON.parse(vector.body)))).not.toContain(vector.secret);
});

test.each([...SENDERS.keys()])("%s says where the kind of an event is missing", (name) =>
  expect(map(name, { other: 1 })).toMatch(/^mapping error: .+ is missing: expected the kind of an event of /),
);

test("a kind without a letter or digit is no type", () =>
  expect(map("linear", { type: "…" })).toBe(
    'mapping error: Linear names the event "…": expected a string with a letter or digit',
  ));
