import { hmacScheme } from "../schemes.ts";
import { first, type Sender } from "../sender.ts";

export const sender: Sender = {
  title: "Slack",
  schemes: [
    hmacScheme("slack", {
      header: "X-Slack-Signature",
      prefix: "v0=",
      template: "v0:{timestamp}:{body}",
      timestamp_header: "X-Slack-Request-Timestamp",
    }),
  ],
  secret: "In Slack: Basic Information → App Credentials → Signing Secret.",
  // People see anything but 200 as an error, and a text as an answer.
  status: 200,
  kind: "/event/type",
  fields(look) {
    const command = look("/command")?.replace(/^\//, "");
    const subject = first(
      look,
      "/event/channel",
      "/event/channel/id",
      "/event/item/channel",
      "/channel/id",
      "/channel_id",
    );
    const about = {
      subject: subject ?? first(look, "/event/user", "/event/user/id", "/user/id", "/team_id"),
    };
    if (command) return { entity: "command", action: command, ...about };
    const event = look("/event/type") ?? (look("/minute_rate_limited") && look("/type"));
    if (!event) return { entity: look("/type") && "interaction", action: look("/type"), ...about };
    return { entity: "event", action: event, ...about, id: look("/event_id"), time: look("/event_time") };
  },
  handshake: {
    about: "signed `url_verification`, answered with its `challenge`",
    answer: ({ type, challenge }) =>
      type === "url_verification" && typeof challenge === "string" ? { challenge } : null,
  },
  sample: {
    payload: {
      type: "event_callback",
      event_id: "Ev08MFMKH6",
      event: { type: "app_mention", channel: "C061EG9T2", text: "hello" },
    },
    type: "event.app_mention",
  },
};
