import { useEffect, useState } from "react";
import type { IngestTestWebhookResult, Webhook, WebhookRequest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { dateTime } from "../../data/format.ts";
import { mistakeInJson } from "../../data/text.ts";
import { useFormTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CodeArea, SelectField } from "../../ui/field.tsx";
import { CircleAlert, FlaskConical } from "../../ui/icons.tsx";
import { Json } from "../../ui/text.tsx";
import { senderOf } from "./senders.ts";
import { OUTCOMES } from "./words.tsx";

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

interface Props {
  /** Null before the webhook is created. */
  webhook_id: string | null;
  source: string;
  /** As in the form, saved or not. */
  mapping: Webhook["mapping"];
  /** The webhook's last requests, to choose one from. */
  requests?: readonly WebhookRequest[];
}

const WRITTEN = "";

/** Applies the mapping of a form to a request, without saving or publishing anything. */
export function TestMapping({ webhook_id, source, mapping, requests = [] }: Props) {
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
      <Outcome result={result} />
    </div>
  );
}

function Outcome({ result }: { result: IngestTestWebhookResult | undefined }) {
  return (
    <div role="status" className="test-result">
      {result?.error && (
        <p className="notice bad">
          <CircleAlert aria-hidden size={16} /> The payload would be dead-lettered: {result.error}
        </p>
      )}
      {result?.event && <Json value={result.event} label="Resulting event" />}
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
