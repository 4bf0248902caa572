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
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  vector: {
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
};
