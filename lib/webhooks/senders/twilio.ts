import { timingSafeEqual } from "node:crypto";
import { mediaTypeOf } from "../../http/media-type.ts";
import { digest, fromBase64, given, type Scheme, signedContent } from "../schemes.ts";
import { first, RECEIVED, type Sender } from "../sender.ts";

const FORM = "application/x-www-form-urlencoded";
/** Twilio's forms have some dozens of short fields. They are parsed before their signature is checked. */
const FORM_MAX_BYTES = 65_536;
const FORM_MAX_FIELDS = 256;
const AMPERSAND = 0x26;

/** Twilio: HMAC-SHA1 of the address and the sorted fields of a form, or the address with a hash of another body. */
const SCHEME: Scheme = {
  name: "twilio",
  header: "X-Twilio-Signature",
  read(request) {
    const { body, urls = [] } = request;
    const signature = fromBase64(given(request, "X-Twilio-Signature"));
    const hash = /[?&]bodySHA256=([\da-f]{64})(?:&|$)/i.exec(urls[0] ?? "")?.[1];
    if (hash && !timingSafeEqual(Buffer.from(hash, "hex"), digest(body)))
      return "bodySHA256 does not match the body";
    const isForm = mediaTypeOf(given(request, "Content-Type")) === FORM;
    if (!hash && !isForm && body.length > 0) return "the signature does not cover the body: it is not a form";
    const fields = hash ? "" : signedFields(body);
    if (fields === null)
      return `the form is larger than ${FORM_MAX_BYTES} bytes, has more than ${FORM_MAX_FIELDS} fields, or has one twice`;
    const contents = [...new Set(urls.flatMap(listEquivalents))].map((url) => [url, fields]);
    return {
      signedBy: (secret) =>
        contents.find((content) => signedContent(secret, content, [signature], "sha1")) ?? null,
    };
  },
};

/** The subject of a request of Twilio: the field with its status, if any, and its id. */
const TWILIO: [entity: string, sid: string, status: string][] = [
  ["recording", "/RecordingSid", "/RecordingStatus"],
  ["message", "/MessageSid", "/MessageStatus"],
  ["message", "/SmsSid", "/SmsStatus"],
  ["call", "/CallSid", "/CallStatus"],
  ["conversation", "/ConversationSid", "/EventType"],
];

export const sender: Sender = {
  title: "Twilio",
  schemes: [SCHEME],
  secret: "In Twilio: the auth token of the account.",
  // Any body would be read as its markup.
  status: 204,
  delivery: "i-twilio-idempotency-token",
  kind: "/MessageSid",
  fields(look) {
    const [entity, sid = "", status = ""] = TWILIO.find(([, sid]) => look(sid)) ?? [];
    // An incoming message has SmsStatus only.
    const action = entity && first(look, status, ...(entity === "message" ? ["/SmsStatus"] : []));
    return { entity, action: action ?? RECEIVED, subject: look(sid) };
  },
  sample: {
    payload: { MessageSid: "SM1", SmsStatus: "received", From: "+4915100000000", Body: "hello" },
    type: "message.received",
  },
  // https://twilio-php-atbaker.readthedocs.io/en/latest/usage/validation.html and the tests of its libraries
  vector: {
    secret: "12345",
    url: "https://mycompany.com/myapp.php?foo=1&bar=2",
    body: "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
    headers: {
      "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
      "X-Twilio-Signature": "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
    },
  },
};

/**
 * Returns each field's name and value, in the order of the names; null for a form that Twilio would not send. Twilio
 * signs a repeated field as one, so a repetition could be added to a signed form.
 */
function signedFields(form: Uint8Array): string | null {
  if (form.length > FORM_MAX_BYTES) return null;
  let most = 1;
  for (const byte of form) if (byte === AMPERSAND && ++most > FORM_MAX_FIELDS) return null;
  const fields = [...new URLSearchParams(Buffer.from(form).toString("utf8"))];
  const values = new Map(fields);
  if (values.size < fields.length) return null;
  return [...values.keys()]
    .sort()
    .map((name) => name + values.get(name))
    .join("");
}

/**
 * Returns the spellings of an address that mean the same: Twilio signs some with the usual port and some without, and
 * the escapes that its user configured, which are not always those of the request.
 */
function listEquivalents(url: string): string[] {
  const [, scheme = "", host = "", port, rest = ""] =
    /^(https?):\/\/(\[[^\]]*\]|[^/:?#]*)(?::(\d+))?(.*)$/s.exec(url) ?? [];
  const usual = scheme === "https" ? "443" : "80";
  const hosts = [`${scheme}://${host}`, `${scheme}://${host}:${port ?? usual}`];
  const [, path = "", query = ""] = /^([^?]*)(.*)$/s.exec(rest) ?? [];
  const queries = listSpellings(query);
  const rests = listSpellings(path).flatMap((each) => queries.map((one) => each + one));
  return rests.slice(0, MOST_SPELLINGS).flatMap((each) => hosts.map((one) => one + each));
}

/** Each costs a hash of the content. Addresses with few escapes have few. */
const MOST_SPELLINGS = 32;
/** The characters that libraries escape: as `encodeURI`, as `encodeURIComponent`, or all. */
const ESCAPED = [
  /[^\x21-\x7e]|["<>[\\\]^`{|}]/gu,
  /[^\x21-\x7e]|["<>[\\\]^`{|}$,:;@]/gu,
  /[^\x21-\x7e]|["<>[\\\]^`{|}$,:;@!'()*]/gu,
];
/** Always escaped, because it would mean something else. */
const STRUCTURAL = /[\0- \x7f%#/?&=+]/g;

function listSpellings(text: string): string[] {
  const plain = text.replace(/(?:%[\da-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run).replace(STRUCTURAL, percent);
    } catch {
      return run.toUpperCase();
    }
  });
  const escaped = ESCAPED.map((characters) => plain.replace(characters, percent));
  const lower = escaped.map((each) => each.replace(/%[\dA-F]{2}/g, (one) => one.toLowerCase()));
  return [...new Set([text, plain, ...escaped, ...lower])];
}

function percent(character: string): string {
  const bytes = [...Buffer.from(character)];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}
