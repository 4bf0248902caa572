import { Type } from "typebox";
import { nullable, oneOf } from "../../../lib/contract/contract.ts";

const term = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 300, description, examples: [example] });

const optionalTerm = (description: string, example: string) =>
  Type.Optional(nullable(term(description, example)));

export const Source = term(
  "Name of the sender: the second part of the event type, and the end of the webhook's URL.",
  "github",
);

export const Mapping = Type.Object(
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
    title: "Mapping",
    additionalProperties: false,
    description:
      "Maps a payload to an event. Each value is a literal, a JSON Pointer into the payload (`/issue/number`) or a header " +
      "of the delivery (`header:X-GitHub-Event`). The event type is `com.<source>.<entity>.<action>` in lower case; " +
      "each run of characters other than letters, digits, `_` and `-` within a part is replaced by `_`.",
  },
);

/** Instead of a mapping: the deliveries are CloudEvents. */
export const AS_CLOUDEVENTS = "cloudevents";

/** Known senders: instead of a mapping, theirs. */
export const PRESET_NAMES = [
  "github",
  "gitlab",
  "slack",
  "stripe",
  "shopify",
  "twilio",
  "linear",
  "sentry",
  "standard_webhooks",
] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export const WebhookMapping = Type.Union([
  Mapping,
  oneOf([AS_CLOUDEVENTS, ...PRESET_NAMES], {
    description:
      "`cloudevents`: the sender delivers CloudEvents, in structured, binary or batch mode (at most 100). They pass " +
      "unchanged, except that the webhook's id and their source prefix theirs: `whk_…:SOURCE id`. Signatures cover the body only, not " +
      "attributes in `ce-…` headers. Others are presets: they accept only this sender's signature and map its kinds of " +
      "event to `com.<source>.<entity>.<action>`, with the sender's delivery id, subject and time.",
    examples: ["github"],
  }),
]);

/** The outcomes of a webhook's request. */
export const REQUEST_OUTCOMES = ["accepted", "duplicate", "dead_lettered", "challenge", "refused"] as const;
