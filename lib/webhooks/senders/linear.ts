import { hmacScheme, type Scheme, timeFault } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

const BODY = hmacScheme("linear", { header: "Linear-Signature" });

/** The body contains the time, in milliseconds. */
const SCHEME: Scheme = {
  ...BODY,
  read(request, now) {
    const claim = BODY.read(request, now);
    if (typeof claim === "string") return claim;
    return { ...claim, refuses: () => timeFault(secondsIn(request.body), now) };
  },
};

function secondsIn(body: Uint8Array): number {
  try {
    return Math.floor(JSON.parse(Buffer.from(body).toString("utf8")).webhookTimestamp / 1000);
  } catch {
    return Number.NaN;
  }
}

export const sender: Sender = {
  title: "Linear",
  schemes: [SCHEME],
  secret: "In Linear: the signing secret on the page of the webhook.",
  delivery: "linear-delivery",
  kind: "/type",
  fields: (look) => ({
    entity: look("/type"),
    action: look("/action") ?? RECEIVED,
    subject: first(look, "/url", "/data/url", "/data/id"),
    time: first(look, "/createdAt", "/webhookTimestamp"),
  }),
  sample: {
    payload: {
      type: "Issue",
      action: "create",
      url: "https://linear.app/acme/issue/APP-12",
      data: { id: "1" },
    },
    type: "issue.create",
  },
  // Accepted by `LinearWebhookClient.verify` of @linear/sdk 98.
  vector: {
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    at: 1769851800_000,
    body: '{"type":"Issue","action":"create","webhookTimestamp":1769851800000}',
    headers: { "Linear-Signature": "c7774cf423e3944aa8e61caca4a14cd25e5c824ed6dfb352e576a11135a0f9dc" },
  },
};
