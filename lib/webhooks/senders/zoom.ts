import { createHmac } from "node:crypto";
import { hmacScheme } from "../schemes.ts";
import { dotted, type Sender } from "../sender.ts";

/** Distinguishes events of one kind: a retry is sent at another time. */
const IDENTITY = [
  ...["/event", "/event_ts", "/payload/object/uuid", "/payload/object/id"],
  ...["/payload/object/participant/participant_uuid", "/payload/object/participant/user_id"],
];

export const sender: Sender = {
  title: "Zoom",
  schemes: [
    hmacScheme("zoom", {
      header: "x-zm-signature",
      prefix: "v0=",
      template: "v0:{timestamp}:{body}",
      timestamp_header: "x-zm-request-timestamp",
    }),
  ],
  secret: "In Zoom: Feature → Access → Secret Token of the app.",
  status: 200,
  kind: "/event",
  fields: (look) => ({
    ...dotted(look("/event")),
    subject: look("/payload/object/id"),
    id: look("/event_ts") && IDENTITY.map((term) => look(term) ?? "").join(":"),
    time: look("/event_ts"),
  }),
  handshake: {
    about: "signed `endpoint.url_validation`, answered with the HMAC of its `plainToken`",
    answer({ event, payload }, secret) {
      const { plainToken } = (payload ?? {}) as { plainToken?: unknown };
      if (event !== "endpoint.url_validation" || typeof plainToken !== "string") return null;
      return { plainToken, encryptedToken: createHmac("sha256", secret).update(plainToken).digest("hex") };
    },
  },
  sample: {
    payload: {
      event: "meeting.started",
      event_ts: 1769851800000,
      payload: { account_id: "AAAAAABBBB", object: { id: "1234567890", uuid: "4444AAAiAAAAAiAiAiiAii==" } },
    },
    type: "meeting.started",
  },
  // The body of https://developers.zoom.us/docs/api/webhooks/, whose secret is not published.
  vector: {
    secret: "a-secret-token-of-zoom",
    at: 1654503849_000,
    body: '{"payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1654503849680,"event":"endpoint.url_validation"}',
    headers: {
      "x-zm-request-timestamp": "1654503849",
      "x-zm-signature": "v0=60db5fc406dc71aa51f3f76e94fe03ba40a545981ba601da4f151b5e73ca137a",
    },
  },
};
