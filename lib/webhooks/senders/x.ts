import { createHmac } from "node:crypto";
import { CHALLENGE_TOKEN, hmacScheme } from "../schemes.ts";
import { dotted, parameter, RECEIVED, type Sender } from "../sender.ts";

/** Anybody may ask for the HMAC of a token, so a secret must be too long to be found by it. X's have 50 characters. */
const SECRET_MIN_CHARACTERS = 32;

export const sender: Sender = {
  title: "X",
  schemes: [
    hmacScheme("x", { header: "x-twitter-webhooks-signature", prefix: "sha256=", encoding: "base64" }),
  ],
  secret: "In X: the consumer secret (API key secret) of the app.",
  status: 200,
  kind: "/data/event_type",
  fields(look, payload) {
    const lists = Object.keys(Object(payload)).filter((key) => key.endsWith("_events"));
    const name = lists[0]?.replace(/_events$/, "");
    const kind = /_(?:create|delete)$/.test(name ?? "")
      ? dotted(name, "_")
      : { entity: name, action: RECEIVED };
    return { ...(name ? kind : dotted(look("/data/event_type"))), subject: look("/for_user_id") };
  },
  handshake: {
    about: "`GET` with `crc_token`, answered with its HMAC (a secret of at least 32 characters)",
    challenge(request) {
      const token = parameter(request, "crc_token", CHALLENGE_TOKEN);
      if (request.method !== "GET" || token === null) return null;
      const sign = (secret: string) => createHmac("sha256", secret).update(token).digest("base64");
      const sufficient = (secret: string) => secret.length >= SECRET_MIN_CHARACTERS;
      return {
        sign: (secret) => (sufficient(secret) ? { response_token: `sha256=${sign(secret)}` } : null),
      };
    },
  },
  sample: {
    payload: { for_user_id: "2244994945", tweet_create_events: [{ id_str: "1", text: "hello" }] },
    type: "tweet.create",
  },
  // As https://docs.x.com/x-api/webhooks/quickstart describes; X publishes no example with its secret.
  vector: {
    secret: "a-consumer-secret-of-an-app-at-x-of-50-characters.",
    body: '{"for_user_id":"2244994945","tweet_create_events":[]}',
    headers: { "x-twitter-webhooks-signature": "sha256=toN3d9l8L/Vqy3Gfb1hFMp0XkMr8lQXdX49UFvlsgeE=" },
  },
};
