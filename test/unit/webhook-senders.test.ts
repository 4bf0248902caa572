import { createHmac } from "node:crypto";
import { describe, expect, jest, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { newVerify } from "../../connectors/webhook-signature.ts";
import { hmacScheme, type Scheme } from "../../lib/webhooks/schemes.ts";
import { SCHEMES, SENDERS } from "../../lib/webhooks/senders.ts";
import { listAddresses } from "../../services/sense/ingest/receive.ts";
import {
  gitlabRequest,
  linearRequest,
  type Sent,
  sentryRequest,
  shopifyRequest,
  slackHeaders,
  stripeHeaders,
  twilioForm,
  twilioJson,
} from "../support/senders.ts";
import { hexSignature } from "../support/webhooks.ts";

const SECRET = "8f742231b10e8888abcd99yyyzzz85a5";
const NOW = Date.UTC(2026, 0, 31, 9, 30);
const URL = "https://sensorium.example.com/w/acme/twilio";

const lower = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const of = (sender: string) => SENDERS.get(sender)?.schemes;

type Changed = { secret?: string; now?: number; urls?: string[]; accepted?: readonly Scheme[] };

function check(
  { body, headers }: Sent,
  { secret = SECRET, now = NOW, urls = [URL], accepted }: Changed = {},
) {
  const request = { body: Buffer.from(body), headers: lower(headers), urls };
  const verdict = newVerify(request, now)([secret], accepted);
  return "signature" in verdict ? verdict.signature : verdict.refused;
}

describe.each([...SENDERS])("%s", (_, { schemes, vector }) => {
  const { secret, at = NOW, body, headers, url = URL } = vector;
  const given = { secret, now: at, urls: [url], accepted: schemes };

  test("signs as its documents or its library show, and as nobody else can", () => {
    expect(check({ body, headers }, given)).toMatchObject({ scheme: expect.any(String) });
    const isKnownByHeader = schemes.every(({ header }) => header !== null);
    const { accepted: _, ...any } = given;
    if (isKnownByHeader) expect(check({ body, headers }, any)).toEqual(check({ body, headers }, given));
    expect(check({ body, headers }, { ...given, secret: `${secret}abcd` })).toMatch(/does not match$/);
    const isToken = schemes.some(({ mismatch }) => mismatch);
    if (!isToken) expect(check({ body: `${body} `, headers }, given)).toMatch(/does not match$|field/);
    const unsigned = Object.fromEntries(Object.entries(headers).map(([name]) => [name, ""]));
    if (Object.keys(headers).length > 0)
      expect(check({ body, headers: unsigned }, given)).toEqual(expect.any(String));
    // One of several signatures is enough.
    for (const { header } of schemes) {
      const [name = "", value = ""] = Object.entries(headers).find(([each]) => each === header) ?? [];
      if (value && !/v1=.*v1=/.test(value))
        expect(typeof check({ body, headers: { ...headers, [name]: `${value}0` } }, given)).toBe("string");
    }
  });

  test("keeps its times", () => {
    if (vector.at === undefined) return;
    expect(check({ body, headers }, { ...given, now: at + 301_000 })).toMatch(/^timestamp too old/);
    expect(check({ body, headers }, { ...given, now: at - 301_000 })).toMatch(/in the future$/);
  });
});

describe("a custom scheme", () => {
  const sign = (algorithm: string, encoding: "hex" | "base64", text: string) =>
    createHmac(algorithm, SECRET).update(text).digest(encoding);
  const scheme = (spec: Partial<Parameters<typeof hmacScheme>[1]>) => [
    hmacScheme("custom", { header: "X-Acme-Signature", ...spec }),
  ];
  const body = '{"n":1}';

  test.each(["sha256", "sha512", "sha1"] as const)("hashes by %s, in hex or base64", (algorithm) => {
    for (const encoding of ["hex", "base64"] as const) {
      const headers = { "X-Acme-Signature": `a=${sign(algorithm, encoding, body)}` };
      const accepted = scheme({ algorithm, encoding, prefix: "a=" });
      expect(check({ body, headers }, { accepted })).toMatchObject({ scheme: "custom", id: null });
      expect(check({ body: "{}", headers }, { accepted })).toBe("signature does not match");
      for (const other of [{ prefix: "b=" }, { encoding: encoding === "hex" ? "base64" : "hex" } as const]) {
        const accepted = scheme({ algorithm, encoding, prefix: "a=", ...other });
        expect(check({ body, headers }, { accepted })).toBe("signature does not match");
      }
    }
  });

  test.each([
    ["HMAC ", (sent: string) => `HMAC ${sent}`],
    ["HMAC ", (sent: string) => `HMAC AAAA, HMAC ${sent}`],
    ["keyId=a1, sig=", (sent: string) => `keyId=a1, sig=${sent}; v=2`],
  ])("has the prefix %j, with what else separates signatures", (prefix, write) => {
    const accepted = scheme({ prefix, encoding: "base64" });
    const sent = sign("sha256", "base64", body);
    const verify = (value: string) => check({ body, headers: { "X-Acme-Signature": value } }, { accepted });
    expect(verify(write(sent))).toMatchObject({ scheme: "custom" });
    for (const other of [sent, `x${write(sent)}`.replace("HMAC AAAA, ", ""), write(`${sent}x`)])
      expect(verify(other)).toBe("signature does not match");
  });

  test("signs the time as it was sent, in a separate header or in that of the signature", () => {
    for (const time of [
      ...["1769851800", "1769851800000", "2026-01-31T09:30:00.000Z", "2026-01-31T10:30:00+01:00"],
    ]) {
      const v1 = sign("sha256", "hex", `1:${time}.${body}`);
      const spec = { prefix: "v1=", template: "1:{timestamp}.{body}" };
      const own = scheme({ ...spec, timestamp_header: "X-Acme-Time" });
      const apart = { "X-Acme-Signature": `v1=${"0".repeat(64)},v1=${v1}`, "X-Acme-Time": time };
      const same = scheme({ ...spec, timestamp_header: "X-Acme-Signature", timestamp_prefix: "ts=" });
      const together = { "X-Acme-Signature": `ts=${time}; v1=${v1}` };
      for (const [headers, accepted] of [
        [apart, own],
        [together, same],
      ] as const) {
        expect(check({ body, headers }, { accepted })).toMatchObject({ scheme: "custom" });
        expect(check({ body, headers }, { accepted, now: NOW + 301_000 })).toMatch(/^timestamp too old/);
      }
      const shifted = { ...apart, "X-Acme-Time": "1769851801" };
      expect(check({ body, headers: shifted }, { accepted: own })).toBe("signature does not match");
      const brief = scheme({ ...spec, timestamp_header: "X-Acme-Time", tolerance_seconds: 10 });
      const late = { accepted: brief, now: NOW + 11_000 };
      expect(check({ body, headers: apart }, late)).toBe("timestamp too old: more than 10 s");
    }
    const headers = { "X-Acme-Signature": `v1=${sign("sha256", "hex", `.${body}`)}` };
    const spec = { prefix: "v1=", template: "{timestamp}.{body}", timestamp_header: "X-Acme-Time" };
    expect(check({ body, headers }, { accepted: scheme(spec) })).toBe("no timestamp");
  });
});

test("what X's challenge signs for anybody is no delivery, by any scheme", () => {
  const token = "MTkxNzk0YjAtOTNiMC00ZjAy";
  const request = { method: "GET", query: new URLSearchParams({ crc_token: token }), empty: true };
  const challenge = SENDERS.get("x")?.handshake?.challenge?.(request);
  if (!challenge || "echo" in challenge) throw new Error("X's challenge is not signed");
  const { response_token } = challenge.sign(SECRET) as { response_token: string };
  const hex = Buffer.from(response_token.replace("sha256=", ""), "base64").toString("hex");
  expect(hexSignature(SECRET, token)).toBe(hex);
  const all: [string, string][] = [
    ["x-twitter-webhooks-signature", response_token],
    ["X-Service-Signature", hex],
    ["X-Hub-Signature", `sha256=${hex}`],
  ];
  for (const [header, value] of all)
    expect(check({ body: token, headers: { [header]: value } })).toBe("signature does not match");
  expect(challenge.sign("31-characters-are-too-few-to-be")).toBeNull();
});

test("every scheme is that of one name", () =>
  expect(new Set(SCHEMES.map(({ name }) => name)).size).toBe(SCHEMES.length));

describe("Slack", () => {
  // https://docs.slack.dev/authentication/verifying-requests-from-slack
  const example = {
    body:
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&" +
      "channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=" +
      "https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&" +
      "trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c",
    headers: {
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    },
  };
  const then = 1531420618_000;

  test("signs as its documents show, within 5 minutes", () => {
    expect(check(example, { now: then })).toMatchObject({ scheme: "slack", id: null });
    expect(check(example, { now: then + 300_000 })).toMatchObject({ scheme: "slack", id: null });
    expect(check(example, { now: then + 301_000 })).toBe("timestamp too old: more than 5 minutes");
    expect(check(example, { now: then - 301_000 })).toBe("timestamp more than 5 minutes in the future");
    expect(check(example, { now: then, secret: `${SECRET}0` })).toBe("signature does not match");
    expect(check({ ...example, body: `${example.body}x` }, { now: then })).toBe("signature does not match");
    const moved = { ...example.headers, "X-Slack-Request-Timestamp": "1531420619" };
    expect(check({ ...example, headers: moved }, { now: then })).toBe("signature does not match");
    const { "X-Slack-Signature": signature } = example.headers;
    expect(check({ ...example, headers: { "X-Slack-Signature": signature } })).toBe("no timestamp");
  });

  test("is signed by the tests as by Slack", () =>
    expect(slackHeaders(SECRET, example.body, then)).toEqual(example.headers));
});

describe("Twilio", () => {
  // https://twilio-php-atbaker.readthedocs.io/en/latest/usage/validation.html and the tests of its libraries
  const url = "https://mycompany.com/myapp.php?foo=1&bar=2";
  const fields = {
    ...{ CallSid: "CA1234567890ABCDE", Caller: "+14158675309", Digits: "1234" },
    ...{ From: "+14158675309", To: "+18005551212" },
  };
  const example = {
    body: String(new URLSearchParams(fields)),
    headers: {
      "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
      "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
    },
  };
  const given = { secret: "12345", urls: [url] };
  const valid = { scheme: "twilio", id: null };

  test("signs the address and the sorted fields, as its documents show", () => {
    expect(check(example, given)).toMatchObject(valid);
    expect(check(example, { ...given, secret: "12346" })).toBe("signature does not match");
    expect(check(example, { ...given, urls: [`${url}&a=1`] })).toBe("signature does not match");
    expect(check({ ...example, body: `${example.body}&a=1` }, given)).toBe("signature does not match");
    expect(check(example, { ...given, urls: [] })).toBe("signature does not match");
    const signed = twilioForm("12345", url, fields).headers["X-Twilio-Signature"];
    expect(signed).toBe(example.headers["X-Twilio-Signature"]);
  });

  test("may sign the address with its port or without", () => {
    for (const [signed, known] of [
      ["https://a.example:443/w/x", "https://a.example/w/x"],
      ["https://a.example/w/x", "https://a.example:443/w/x"],
      ["http://a.example:3000/w/x?y=1", "http://a.example:3000/w/x?y=1"],
      ["https://a.example/w/x", "https://a.example:8443/w/x"],
    ] as const)
      expect(check(twilioForm(SECRET, signed, fields), { urls: [known] })).toMatchObject(valid);
  });

  test("signs a JSON body by its hash in the address", () => {
    const sent = twilioJson(SECRET, URL, { a: 1 });
    expect(check(sent, { urls: [sent.url] })).toMatchObject(valid);
    const changed = check({ ...sent, body: '{"a":2}' }, { urls: [sent.url] });
    expect(changed).toBe("bodySHA256 does not match the body");
    // Without the hash the signature would cover no body at all.
    const bare = twilioForm(SECRET, URL, {});
    const json = { body: '{"a":1}', headers: { ...bare.headers, "Content-Type": "application/json" } };
    expect(check(json)).toBe("the signature does not cover the body: it is not a form");
  });

  test("a form is not read when it is larger than Twilio's or has a field twice", () => {
    const why = /^the form is larger than 65536 bytes, has more than 256 fields, or has one twice$/;
    expect(check(twilioForm(SECRET, URL, { Body: "x".repeat(70_000) }))).toMatch(why);
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, ""]));
    expect(check(twilioForm(SECRET, URL, many(256)))).toMatchObject(valid);
    expect(check(twilioForm(SECRET, URL, many(257)))).toMatch(why);
    const sent = twilioForm(SECRET, URL, { Body: "a", MessageSid: "SM1" });
    for (const twice of ["Body=a", "%42ody=a", "Body=b"])
      expect(check({ ...sent, body: `${sent.body}&${twice}` })).toMatch(why);
  });

  test("a form is parsed once, and only where a webhook takes Twilio's signature", () => {
    const { body, headers } = twilioForm("somebody else's secret", URL, fields);
    const request = { body: Buffer.from(body), headers: lower(headers), urls: [URL] };
    const Real = URLSearchParams;
    const parse = jest.spyOn(globalThis, "URLSearchParams").mockImplementation((text) => new Real(text));
    try {
      const verify = newVerify(request, NOW);
      for (let i = 0; i < 5; i++)
        expect(verify([SECRET], of("github"))).toEqual({ refused: "no X-Hub-Signature-256 header" });
      expect(parse).not.toHaveBeenCalled();
      for (let i = 0; i < 5; i++)
        expect(verify([SECRET, `${SECRET}0`])).toEqual({ refused: "signature does not match" });
      expect(parse).toHaveBeenCalledTimes(1);
    } finally {
      parse.mockRestore();
    }
  });

  test("has the same digest however the form is encoded, and another at another address", () => {
    const url = `${URL}?n=1`;
    const { body, headers } = twilioForm(SECRET, url, { ...fields, Body: "two words" });
    const digestOf = (form: string) => {
      const found = check({ body: form, headers }, { urls: [url] });
      return typeof found === "string" ? found : found.digest;
    };
    const digest = digestOf(body);
    expect(digest).toMatch(/^sha256:/);
    const reordered = body.split("&").reverse().join("&");
    expect(digestOf(reordered)).toBe(digest);
    expect(digestOf(body.replace("two+words", "%74wo%20words"))).toBe(digest);
    // Without the boundary between one field and the next.
    const { CallSid, ...others } = fields;
    const merged = new URLSearchParams({ ...others, Body: `two wordsCallSid${CallSid}` });
    expect(digestOf(String(merged))).toBe(digest);
    const elsewhere = twilioForm(SECRET, `${URL}?n=2`, { ...fields, Body: "two words" });
    expect(check(elsewhere, { urls: [`${URL}?n=2`] })).not.toMatchObject({ digest });
  });
});

test("Stripe signs as its own library does", () => {
  // By `webhooks.generateTestHeaderString` of stripe 23, which is too large for one test.
  const signature = "23e61300a59ec1c17ff42be23096547e11c247bbb2900d5797dcdbbea287af8c";
  const headers = { "Stripe-Signature": `t=1769851800,v1=${signature}` };
  const body = '{"id":"evt_1","type":"invoice.paid","data":{"object":{"id":"in_1"}}}';
  const secret = `whsec_${SECRET}`;
  expect(check({ body, headers }, { secret })).toMatchObject({ scheme: "stripe" });
  expect(stripeHeaders(secret, body, NOW)).toEqual(headers);
});

test("Linear signs the body with its time", () => {
  const at = NOW;
  const sent = linearRequest(SECRET, { type: "Issue", action: "create" }, at);
  // Accepted by `LinearWebhookClient.verify` of @linear/sdk 98, which is too large for one test.
  const accepted = "c7774cf423e3944aa8e61caca4a14cd25e5c824ed6dfb352e576a11135a0f9dc";
  expect(sent.headers["Linear-Signature"]).toBe(accepted);
  expect(check(sent, { now: at })).toMatchObject({ scheme: "linear", id: null });
  expect(check(sent, { now: at + 302_000 })).toBe("timestamp too old: more than 5 minutes");
  expect(check(sent, { now: at, secret: "another-secret-0" })).toBe("signature does not match");
  const timeless = JSON.stringify({ type: "Issue" });
  const { headers } = { headers: { "Linear-Signature": linearSignature(timeless) } };
  expect(check({ body: timeless, headers }, { now: at })).toBe("no timestamp");
});

const linearSignature = (body: string) =>
  sentryRequest(SECRET, "", JSON.parse(body)).headers["Sentry-Hook-Signature"] as string;

test("Shopify signs the body in base64, Sentry in hex", () => {
  const shopify = shopifyRequest(SECRET, "orders/create", { id: 1 });
  expect(check(shopify)).toMatchObject({ scheme: "shopify", id: null });
  expect(check({ ...shopify, body: '{"id":2}' })).toBe("signature does not match");
  const sentry = sentryRequest(SECRET, "issue", { action: "created" });
  expect(check(sentry)).toMatchObject({ scheme: "sentry", id: null });
  expect(check(sentry, { secret: "another-secret-0" })).toBe("signature does not match");
});

test("GitLab sends its secret token, and an id that is as trustworthy", () => {
  const sent = gitlabRequest(SECRET, {});
  expect(check(sent)).toMatchObject({ scheme: "gitlab_token", id: sent.headers["Idempotency-Key"] });
  expect(check(sent, { secret: "another-secret-0" })).toBe("token does not match");
  expect(check({ ...sent, headers: { "X-Gitlab-Token": "" } }, { secret: "x" })).toBe("token does not match");
});

describe("a part of a signature, or more than one, is none", () => {
  const sent = (headers: Record<string, string>): Sent => ({ body: "{}", headers });
  const hex = hexSignature(SECRET, "{}");
  const standard = (prefix: "webhook" | "svix") =>
    sent({
      [`${prefix}-id`]: "msg_1",
      [`${prefix}-timestamp`]: String(NOW / 1000),
      [`${prefix}-signature`]: new Webhook(SECRET, { format: "raw" }).sign("msg_1", new Date(NOW), "{}"),
    });
  const HEX = /[\da-f]{64}$/;
  const BASE64 = /[\w+/]{27,43}=$/;

  test.each<[string, string, RegExp, "hex" | "base64" | "latin1", Sent]>([
    ["service", "X-Service-Signature", HEX, "hex", sent({ "X-Service-Signature": hex })],
    ["github", "X-Hub-Signature-256", HEX, "hex", sent({ "X-Hub-Signature-256": `sha256=${hex}` })],
    ["standard_webhooks", "webhook-signature", BASE64, "base64", standard("webhook")],
    ["svix", "svix-signature", BASE64, "base64", standard("svix")],
    ["stripe", "Stripe-Signature", HEX, "hex", sent(stripeHeaders(SECRET, "{}", NOW))],
    ["slack", "X-Slack-Signature", HEX, "hex", sent(slackHeaders(SECRET, "{}", NOW))],
    ["gitlab_token", "X-Gitlab-Token", /.+/, "latin1", gitlabRequest(SECRET, {})],
    ["shopify", "X-Shopify-Hmac-Sha256", BASE64, "base64", shopifyRequest(SECRET, "orders/create", {})],
    ["twilio", "X-Twilio-Signature", BASE64, "base64", twilioForm(SECRET, URL, { Body: "a" })],
    ["linear", "Linear-Signature", HEX, "hex", linearRequest(SECRET, {}, NOW)],
    ["sentry", "Sentry-Hook-Signature", HEX, "hex", sentryRequest(SECRET, "issue", {})],
  ])("of %s", (scheme, header, written, encoding, { body, headers }) => {
    const secret = /webhooks|svix/.test(scheme) ? Buffer.from(SECRET).toString("base64") : SECRET;
    const [text = ""] = written.exec(headers[header] as string) ?? [];
    const verdict = (changed: Buffer) => {
      const value = (headers[header] as string).replace(written, changed.toString(encoding));
      return check({ body, headers: { ...headers, [header]: value } }, { secret });
    };
    const whole = Buffer.from(text, encoding);
    expect(verdict(whole)).toMatchObject({ scheme });
    const others = [
      ...[0, 1, whole.length / 2, whole.length - 1].map((size) => whole.subarray(0, size)),
      ...[whole.subarray(1), Buffer.concat([whole, Buffer.from("0")]), Buffer.concat([whole, whole])],
    ];
    for (const other of others) expect(verdict(other)).toMatch(/^(signature|token) does not match$/);
  });
});

test("a webhook may accept only some signatures", () => {
  const sentry = sentryRequest(SECRET, "issue", {});
  expect(check(sentry, { accepted: of("sentry") })).toMatchObject({ scheme: "sentry" });
  expect(check(sentry, { accepted: of("slack") })).toBe("no X-Slack-Signature header");
  expect(check(sentry, { accepted: of("gitlab") })).toBe("no webhook-signature or X-Gitlab-Token header");
  expect(check({ body: "", headers: {} })).toBe("no signature");
});

test("the address that was signed is the public one, else what the request names", () => {
  const target = "/w/acme/twilio?a=%27";
  const headers = { host: "10.0.0.1:3000" };
  const [set, none] = [{ PUBLIC_URL: "https://a.example/" }, { PUBLIC_URL: "" }];
  expect(listAddresses({ headers, target }, set)).toEqual([`https://a.example${target}`]);
  const here = `10.0.0.1:3000${target}`;
  expect(listAddresses({ headers, target }, none)).toEqual([`https://${here}`, `http://${here}`]);
  const proxied = { ...headers, "x-forwarded-host": "b.example, c.example" };
  expect(listAddresses({ headers: proxied, target }, none)[0]).toBe(`https://b.example${target}`);
  expect(listAddresses({ headers }, none)).toEqual([]);
});
