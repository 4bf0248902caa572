import { createHmac } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { Webhook } from "standardwebhooks";
import { newVerify } from "../../connectors/webhook-signature.ts";
import type { DeliveryHeaders } from "../../lib/webhooks/schemes.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const OTHER = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const BODY = Buffer.from('{"action":"opened","title":"Größe 😀"}');
const NOW = Date.UTC(2026, 0, 31, 9, 30);
const SECONDS = 1000;

const hex = (secret: string, text: string | Buffer) =>
  createHmac("sha256", secret).update(text).digest("hex");

/** Returns headers signed by the Standard Webhooks library. */
function standard(at = NOW, secret = SECRET): Record<string, string> {
  const id = "msg_1";
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at / SECONDS)),
    "webhook-signature": new Webhook(secret).sign(id, new Date(at), BODY),
  };
}

/** The same with the names of Svix, as those who send by it do. */
function svix(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(standard()).map(([name, value]) => [name.replace("webhook", "svix"), value]),
  );
}

function stripe(at = NOW): Record<string, string> {
  const t = Math.floor(at / SECONDS);
  return { "stripe-signature": `t=${t},v1=${hex(SECRET, `${t}.${BODY}`)},v0=${"0".repeat(64)}` };
}

const verify = (headers: DeliveryHeaders, secrets = [SECRET], body: Uint8Array = BODY) =>
  "signature" in newVerify({ body, headers }, NOW)(secrets);

describe("signed", () => {
  test.each<[string, DeliveryHeaders]>([
    ["the hex HMAC of the body", { "x-service-signature": hex(SECRET, BODY) }],
    ["the same in capitals", { "x-service-signature": hex(SECRET, BODY).toUpperCase() }],
    ["the same with its prefix", { "x-service-signature": `sha256=${hex(SECRET, BODY)}` }],
    ["as GitHub sends it", { "x-hub-signature-256": `sha256=${hex(SECRET, BODY)}` }],
    ["by Standard Webhooks", standard()],
    ["by Standard Webhooks, almost too long ago", standard(NOW - 300 * SECONDS)],
    ["by Standard Webhooks, almost too early", standard(NOW + 300 * SECONDS)],
    ["by Svix", svix()],
    ["as Stripe documents it", stripe()],
  ])("%s", (_, headers) => {
    expect(verify(headers)).toBe(true);
    expect(verify(headers, [OTHER, SECRET])).toBe(true);
    expect(verify(headers, [OTHER])).toBe(false);
    expect(verify(headers, [])).toBe(false);
    expect(verify(headers, [SECRET], Buffer.concat([BODY, Buffer.from(" ")]))).toBe(false);
  });

  test("GitHub's own example", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
    };
    expect(verify(headers, ["It's a Secret to Everybody"], Buffer.from("Hello, World!"))).toBe(true);
  });

  test("by several secrets at once, as a sender does that rotates", () => {
    const { "webhook-signature": wrong } = standard(NOW, OTHER);
    const headers = standard();
    const both = { ...headers, "webhook-signature": `${wrong} v1a,abc ${headers["webhook-signature"]}` };
    expect(verify(both)).toBe(true);
  });

  test("with nothing in the body", () =>
    expect(verify({ "x-service-signature": hex(SECRET, "") }, [SECRET], Buffer.alloc(0))).toBe(true));
});

describe("the digest of what was signed", () => {
  const digestOf = (headers: DeliveryHeaders, body: Uint8Array = BODY) => {
    const verdict = newVerify({ body, headers }, NOW)([SECRET]);
    return "signature" in verdict ? verdict.signature.digest : verdict.refused;
  };
  const plain = { "x-service-signature": hex(SECRET, BODY) };

  test("is the same under another scheme, header or letter case", () => {
    expect(digestOf(plain)).toMatch(/^sha256:[\da-f]{64}$/);
    expect(digestOf({ "x-hub-signature-256": `sha256=${hex(SECRET, BODY).toUpperCase()}` })).toBe(
      digestOf(plain),
    );
    expect(digestOf({ ...plain, "x-github-delivery": "2" })).toBe(digestOf(plain));
    // Another division of the same bytes into time and body.
    const { "stripe-signature": signed = "" } = stripe();
    const time = signed.slice(2, signed.indexOf(","));
    const joined = Buffer.concat([Buffer.from(`${time}.`), BODY]);
    const again = { "x-service-signature": hex(SECRET, joined) };
    expect(digestOf(again, joined)).toBe(digestOf(stripe()));
  });

  test("is another for another body, time or id", () => {
    const body = Buffer.from("{}");
    const digests = [
      digestOf(plain),
      digestOf({ "x-service-signature": hex(SECRET, body) }, body),
      ...[digestOf(stripe()), digestOf(stripe(NOW - SECONDS)), digestOf(standard())],
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});

test.each<[string, DeliveryHeaders]>([
  ["no signature", {}],
  ["an empty one", { "x-service-signature": "" }],
  ["one that is no hex", { "x-service-signature": "x".repeat(64) }],
  ["one too short", { "x-service-signature": hex(SECRET, BODY).slice(2) }],
  ["one too long", { "x-service-signature": `${hex(SECRET, BODY)}00` }],
  ["one of SHA-1's prefix", { "x-hub-signature-256": `sha1=${hex(SECRET, BODY)}` }],
  ["one keyed with the decoded secret", { "x-service-signature": keyedWithBytes() }],
  ["a timestamp too long ago", standard(NOW - 301 * SECONDS)],
  ["a timestamp too early", standard(NOW + 301 * SECONDS)],
  ["another timestamp", { ...standard(), "webhook-timestamp": String(NOW / SECONDS + 1) }],
  ["another id", { ...standard(), "webhook-id": "msg_2" }],
  ["no id", { ...standard(), "webhook-id": undefined }],
  ["a timestamp that is none", { ...standard(), "webhook-timestamp": "NaN" }],
  [
    "another version",
    { ...standard(), "webhook-signature": standard()["webhook-signature"]?.replace("1", "2") },
  ],
  ["a Stripe signature too old", stripe(NOW - 301 * SECONDS)],
  ["a Stripe signature without its time", { "stripe-signature": `v1=${hex(SECRET, BODY)}` }],
])("not signed: %s", (_, headers) => expect(verify(headers)).toBe(false));

test.each([
  ["no base64 at all", "whsec_!!!!!!!!!!!!"],
  ["base64 of two bytes and more", "whsec_BBB=.........."],
  ["base64 that is too short", `whsec_${Buffer.alloc(15, 3).toString("base64")}`],
  ["another scheme's, with base64 in it", "QQ==/another-scheme-secret"],
])("a secret with %s opens nothing to Standard Webhooks", (_, secret) => {
  const headers = standard();
  const content = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${BODY}`;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const signature = createHmac("sha256", key).update(content).digest("base64");
  expect(verify({ ...headers, "webhook-signature": `v1,${signature}` }, [secret])).toBe(false);
});

function keyedWithBytes(): string {
  const key = Buffer.from(SECRET.replace("whsec_", ""), "base64");
  return createHmac("sha256", key).update(BODY).digest("hex");
}
