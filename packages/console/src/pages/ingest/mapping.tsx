import { useEffect, useState } from "react";
import type { IngestTestWebhookResult, Mapping, Webhook, WebhookRequest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { dateTime, mistakeInJson } from "../../data/format.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CodeArea, SelectField } from "../../ui/field.tsx";
import { type Drafts, draftsOf, type Field, shownOf, text, valuesOf } from "../../ui/form.tsx";
import { CircleAlert, FlaskConical } from "../../ui/icons.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Json, type Tone } from "../../ui/text.tsx";
import { type FormatName, SENDERS, senderOf } from "./senders.ts";

const TERM = { maxLength: 300, className: "mono" } as const;

const TERMS = {
  entity: text("Entity", { ...TERM, required: true, placeholder: "header:X-GitHub-Event" }),
  action: text("Action", { ...TERM, required: true, placeholder: "/action" }),
  subject: text("Subject", {
    ...TERM,
    placeholder: "/repository/full_name",
    hint: "What the event is about. Optional.",
  }),
  id: text("ID", { ...TERM, placeholder: "/delivery/id" }),
  data: text("Data", { ...TERM, placeholder: "/payload", hint: "Default: the whole payload." }),
};

type MappingDraft = Drafts<typeof TERMS>;

/** A mapping; terms without a value take their default. */
export const mappingField: Field<Mapping, MappingDraft> = {
  draftOf: (mapping) => draftsOf(TERMS, mapping ?? {}),
  valueOf: (draft) => valuesOf(TERMS, draft),
};

/** Returns the event type of a mapping, with placeholders: `com.github.{X-GitHub-Event}.{action}`. */
export function typeOf(source: string, { entity, action }: Pick<Mapping, "entity" | "action">): string {
  const part = (term: string) => term.replace(/^(?:header:|\/(?:.*\/)?)(.+)$/, "{$1}");
  return `com.${source || "source"}.${part(entity) || "entity"}.${part(action) || "action"}`;
}

interface MappingProps {
  source: string;
  value: MappingDraft;
  onChange(mapping: MappingDraft): void;
  idDefault: string;
}

export function MappingFields({ source, value: mapping, onChange, idDefault }: MappingProps) {
  const { show } = shownOf(TERMS, mapping, (name, term) => onChange({ ...mapping, [name]: term }));
  return (
    <fieldset className="mapping">
      <legend>Mapping</legend>
      <p className="field-hint">
        Each value is a constant, a JSON Pointer into the payload (<code>/issue/number</code>) or a header (
        <code>header:X-GitHub-Event</code>). The event type becomes <code>{typeOf(source, mapping)}</code>.
      </p>
      <div className="grid-2">
        {show("entity")}
        {show("action")}
        {show("subject")}
        {show("id", { hint: idDefault })}
        {show("data")}
      </div>
    </fieldset>
  );
}

const ID_DEFAULT = "Default: the sender's delivery ID. Without one, identical bodies are duplicates.";

type WebhookDraft = MappingDraft | FormatName;

/** How a webhook's deliveries become events: by a format, or by a mapping. */
export const webhookField: Field<Webhook["mapping"], WebhookDraft> = {
  draftOf: (given) =>
    typeof given === "object" && given ? mappingField.draftOf(given) : (given ?? "github"),
  valueOf: (draft) => (typeof draft === "string" ? draft : mappingField.valueOf(draft)),
};

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

interface WebhookMappingProps {
  source: string;
  value: WebhookDraft;
  onChange(draft: WebhookDraft): void;
}

export function WebhookMappingFields({ source, value, onChange }: WebhookMappingProps) {
  const sender = typeof value === "string" ? senderOf(value) : undefined;
  return (
    <>
      <SelectField
        label="Sender"
        options={KINDS}
        value={typeof value === "string" ? value : "mapped"}
        onChange={(kind) => onChange(kind === "mapped" ? mappingField.draftOf(null) : kind)}
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

const MAPPED = {
  payload: {
    action: "opened",
    issue: { number: 12, title: "It is broken" },
    repository: { full_name: "acme/app" },
  },
  headers: "X-GitHub-Event: issues",
};
const EVENT = {
  payload: {
    specversion: "1.0",
    id: "1",
    source: "https://shop.example.com",
    type: "com.example.order.placed",
    data: { total: 42 },
  },
};

interface TestProps {
  /** Null before the webhook is created. */
  webhook_id: string | null;
  source: string;
  /** As in the form, saved or not. */
  mapping: Webhook["mapping"];
  requests?: readonly WebhookRequest[];
}

const WRITTEN = "";

/** Applies the mapping of a form to a request, without saving or publishing anything. */
export function TestMapping({ webhook_id, source, mapping, requests = [] }: TestProps) {
  const format = typeof mapping === "string" ? mapping : "mapped";
  const sample: { payload: unknown; headers?: string } =
    mapping === "cloudevents" ? EVENT : (senderOf(mapping)?.sample ?? MAPPED);
  const [payload, setPayload] = useState("");
  const [headers, setHeaders] = useState("");
  const [request_id, choose] = useState(WRITTEN);
  const [result, setResult] = useState<IngestTestWebhookResult>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another format has another sample
  useEffect(() => {
    setPayload(JSON.stringify(sample.payload, null, 2));
    setHeaders(sample.headers ?? "");
    setResult(undefined);
  }, [format]);
  const wrong = request_id === WRITTEN ? mistakeInJson(payload) : undefined;
  const test = useFormTask(async () => {
    setResult(undefined);
    const given = { payload: request_id === WRITTEN && JSON.parse(payload), headers: headersOf(headers) };
    const what = request_id === WRITTEN ? given : { request_id };
    setResult(
      webhook_id === null
        ? await api.ingest.testMapping({ source, mapping, ...given })
        : await api.ingest.testWebhook({ webhook_id, mapping, ...what }),
    );
  });
  return (
    <div className="stack">
      <RequestChoice requests={requests} value={request_id} onChange={choose} />
      {request_id === WRITTEN && (
        <>
          <CodeArea label="Payload" rows={9} value={payload} onChange={setPayload} error={wrong} />
          <CodeArea label="Headers" rows={2} value={headers} onChange={setHeaders} hint="One per line." />
        </>
      )}
      <div className="row">
        <Button
          label="Test mapping"
          icon={FlaskConical}
          busy={test.busy}
          disabled={wrong !== undefined}
          onClick={() => test.run()}
        />
        <span className="muted small">Nothing is saved or published.</span>
      </div>
      {test.error !== undefined && <Failure error={test.error} />}
      <div role="status" className="test-result">
        {result?.error && (
          <p className="notice bad">
            <CircleAlert aria-hidden size={16} /> The payload would be dead-lettered: {result.error}
          </p>
        )}
        {result?.event && <Json value={result.event} label="Resulting event" />}
      </div>
    </div>
  );
}

interface ChoiceProps {
  requests: readonly WebhookRequest[];
  value: string;
  onChange(request_id: string): void;
}

/** Offers the requests whose body is kept. */
function RequestChoice({ requests, value, onChange }: ChoiceProps) {
  const kept = requests.filter(
    ({ event_id, dead_letter_id }) => event_id !== null || dead_letter_id !== null,
  );
  if (kept.length === 0) return null;
  const options = kept.map(({ request_id, at, outcome }) => ({
    value: request_id,
    label: `${dateTime(at)} · ${OUTCOMES[outcome].label}`,
  }));
  return (
    <SelectField
      label="Request"
      options={[{ value: WRITTEN, label: "Written below" }, ...options]}
      value={value}
      onChange={onChange}
    />
  );
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line));
  return Object.fromEntries(lines.filter((line) => line !== null).map(([, name, value]) => [name, value]));
}

export const OUTCOMES: Record<WebhookRequest["outcome"], { label: string; tone: Tone }> = {
  accepted: { label: "Accepted", tone: "good" },
  duplicate: { label: "Duplicate", tone: "neutral" },
  dead_lettered: { label: "Dead-lettered", tone: "warn" },
  challenge: { label: "Address verified", tone: "good" },
  refused: { label: "Refused", tone: "bad" },
};
