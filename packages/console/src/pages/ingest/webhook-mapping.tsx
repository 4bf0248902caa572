import type { Webhook } from "../../../../client/index.ts";
import { SelectField } from "../../ui/field.tsx";
import { draftOfMapping, emptyMapping, MappingFields, mappingOf, typeOf } from "./mapping.tsx";
import { type FormatName, SENDERS, senderOf } from "./senders.ts";

const ID_DEFAULT = "Default: the sender's delivery ID. Without one, identical bodies are duplicates.";

/** How a webhook's deliveries become events, as form values. */
export type WebhookDraft = typeof emptyMapping | FormatName;

export function draftOfWebhook({ mapping }: Pick<Webhook, "mapping">): WebhookDraft {
  return typeof mapping === "string" ? mapping : draftOfMapping(mapping);
}

export function webhookMappingOf(draft: WebhookDraft): Webhook["mapping"] {
  return typeof draft === "string" ? draft : mappingOf(draft);
}

/** Returns the event type of a webhook, with placeholders. */
export function typeOfWebhook({ source, mapping }: Pick<Webhook, "source" | "mapping">): string {
  if (mapping === "cloudevents") return "As sent";
  return typeof mapping === "string" ? typesOf(source) : typeOf(source, mapping);
}

/** The types of events of a preset, as a glob. */
const typesOf = (source: string) => `com.${source || "source"}.*`;

type Kind = FormatName | "mapped";
const KINDS: { value: Kind; label: string }[] = [
  ...Object.entries(SENDERS).map(([name, { title }]) => ({ value: name as Kind, label: title })),
  { value: "mapped", label: "Other: JSON or forms, mapped to events" },
  { value: "cloudevents", label: "Other: CloudEvents, unchanged" },
];

interface Props {
  source: string;
  value: WebhookDraft;
  onChange(draft: WebhookDraft): void;
}

export function WebhookMappingFields({ source, value, onChange }: Props) {
  const sender = typeof value === "string" ? senderOf(value) : undefined;
  return (
    <>
      <SelectField
        label="Sender"
        options={KINDS}
        value={typeof value === "string" ? value : "mapped"}
        onChange={(kind) => onChange(kind === "mapped" ? emptyMapping : kind)}
        hint={
          sender &&
          `Accepts only requests signed as ${sender.title} does. The types of its events are ${typesOf(source)}.`
        }
      />
      {typeof value !== "string" && (
        <MappingFields source={source} value={value} onChange={onChange} idDefault={ID_DEFAULT} />
      )}
    </>
  );
}
