import { type Static, Type } from "typebox";
import { component, nullable, oneOf, optional } from "../../../lib/contract/contract.ts";
import { SomeText } from "../../../lib/contract/schema.ts";
import { ALGORITHMS, TOLERANCE_SECONDS } from "../../../lib/webhooks/schemes.ts";
import { SENDERS } from "../../../lib/webhooks/senders.ts";

const term = (description: string, example: string) => SomeText(300, description, example);

const optionalTerm = (description: string, example: string) =>
  Type.Optional(nullable(term(description, example)));

export const Source = term(
  "Name of the sender: the second part of the event type, and the end of the webhook's URL.",
  "github",
);

export const Mapping = component(
  "Mapping",
  {
    entity: term("Third part of the event type.", "issues"),
    action: term("Fourth part of the event type.", "/action"),
    id: optionalTerm(
      "Id of the event. Default: the sender's `webhook-id`, `svix-id` or `X-GitHub-Delivery`, else a hash of what is signed. " +
        "If the id is not signed, the same signed content keeps its first id for `DEDUPE_DAYS`.",
      "/delivery/id",
    ),
    subject: optionalTerm("Subject of the event. Default: none.", "/repository/full_name"),
    data: optionalTerm("Data of the event. Default: the whole payload.", "/payload"),
  },
  {
    additionalProperties: false,
    description:
      "Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload (`/issue/number`) or a header " +
      "of the delivery (`header:X-GitHub-Event`). The event type is `com.<source>.<entity>.<action>` in lower case; " +
      "each run of characters other than letters, digits, `_` and `-` within a part is replaced by `_`.",
  },
);

/** Instead of a mapping: the deliveries are CloudEvents. */
export const AS_CLOUDEVENTS = "cloudevents";

export const WebhookMapping = Type.Union([
  Mapping,
  oneOf([AS_CLOUDEVENTS, ...SENDERS.keys()], {
    description:
      "`cloudevents`: the sender delivers CloudEvents, in structured, binary or batch mode (at most 100). They pass " +
      "unchanged, except that the webhook's id and their source prefix theirs: `whk_…:SOURCE id`. Signatures cover the body only, not " +
      "attributes in `ce-…` headers. Others are presets: they accept only this sender's signature and map its kinds of " +
      "event to `com.<source>.<entity>.<action>`, with the sender's delivery id, subject and time.",
    examples: ["github"],
  }),
]);

const HeaderName = (description: string, example: string) =>
  Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$", description, examples: [example] });

const text = (description: string, example: string) =>
  Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "^[\\x20-\\x7e]+$",
    description,
    examples: [example],
  });

const CustomSignature = component(
  "WebhookSignature",
  {
    scheme: oneOf(["custom"], { description: "Always `custom`: senders with a name have presets." }),
    header: HeaderName(
      "Header with the signature, or with several, separated by commas, semicolons or spaces.",
      "X-Acme-Signature",
    ),
    ...optional({
      algorithm: oneOf(ALGORITHMS, { default: "sha256", description: "Hash of the HMAC." }),
      encoding: oneOf(["hex", "base64"], { default: "hex", description: "How the HMAC is written." }),
      prefix: text("Text before each signature; others are ignored. Default: none.", "v1="),
      template: Type.String({
        ...{ minLength: 6, maxLength: 200, default: "{body}" },
        description: "The signed text: `{body}`, and `{timestamp}` as it was sent.",
        examples: ["{timestamp}.{body}"],
      }),
      timestamp_header: HeaderName(
        "Header with the time, if the template has it: seconds or milliseconds since the epoch, or ISO 8601.",
        "X-Acme-Timestamp",
      ),
      timestamp_prefix: text("Text before the time in its header. Default: none.", "t="),
      tolerance_seconds: Type.Integer({
        ...{ minimum: 1, maximum: 86_400, default: TOLERANCE_SECONDS },
        description: "How far the time may be from the present, either way.",
      }),
    }),
  },
  {
    additionalProperties: false,
    description: "How a sender signs that has no preset: an HMAC with the secret's text as the key.",
  },
);

export const WebhookSignature = Type.Union([CustomSignature, oneOf([...SENDERS.keys()])], {
  description:
    "The only signature that the webhook accepts, unless its mapping is a preset: that of a sender with a preset, or an HMAC " +
    "that you describe. Default: all that a header identifies.",
  examples: ["microsoft_graph"],
});
export type OwnSignature = Static<typeof WebhookSignature>;

export const REQUEST_OUTCOMES = ["accepted", "duplicate", "dead_lettered", "challenge", "refused"] as const;
