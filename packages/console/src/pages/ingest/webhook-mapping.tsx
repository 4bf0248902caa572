import type { Webhook } from "../../../../client/index.ts";
import { SelectField } from "../../ui/field.tsx";
import { draftOfMapping, emptyMapping, MappingFields, mappingOf, typeOf } from "./mapping.tsx";

const ID_DEFAULT =
  "Default: the sender's delivery ID. Without one, identical bodies within 24 hours are duplicates.";
const AS_CLOUDEVENTS = "cloudevents";

/** How a webhook's deliveries become events, as form values. */
export type WebhookDraft = typeof emptyMapping | typeof AS_CLOUDEVENTS;

export function draftOfWebhook({ mapping }: Pick<Webhook, "mapping">): WebhookDraft {
  return mapping === AS_CLOUDEVENTS ? mapping : draftOfMapping(mapping);
}

export function webhookMappingOf(draft: WebhookDraft): Webhook["mapping"] {
  return draft === AS_CLOUDEVENTS ? draft : mappingOf(draft);
}

/** Returns the event type of a webhook, with placeholders. */
export function typeOfWebhook({ source, mapping }: Pick<Webhook, "source" | "mapping">): string {
  return mapping === AS_CLOUDEVENTS ? "As sent" : typeOf(source, mapping);
}

const KINDS = [
  { value: "mapped", label: "JSON or forms, mapped to events" },
  { value: AS_CLOUDEVENTS, label: "CloudEvents, unchanged" },
];

interface Props {
  source: string;
  value: WebhookDraft;
  onChange(draft: WebhookDraft): void;
}

export function WebhookMappingFields({ source, value, onChange }: Props) {
  return (
    <>
      <SelectField
        label="Format"
        options={KINDS}
        value={value === AS_CLOUDEVENTS ? value : "mapped"}
        onChange={(kind) => onChange(kind === AS_CLOUDEVENTS ? kind : emptyMapping)}
      />
      {value !== AS_CLOUDEVENTS && (
        <MappingFields source={source} value={value} onChange={onChange} idDefault={ID_DEFAULT} />
      )}
    </>
  );
}
