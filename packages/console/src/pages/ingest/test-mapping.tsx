import { CircleAlert } from "lucide-react";
import { useState } from "react";
import type { IngestTestWebhookResult, Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { mistakeInJson } from "../../data/text.ts";
import { useFormTask } from "../../data/use-task.ts";
import { CodeArea } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { Card } from "../../ui/page.tsx";
import { Json } from "../../ui/text.tsx";

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
  headers: "",
};

/** Applies the saved mapping to a payload, without publishing anything. */
export function TestMapping({ webhook }: { webhook: Webhook }) {
  const sample = webhook.mapping === "cloudevents" ? EVENT : MAPPED;
  const [payload, setPayload] = useState(() => JSON.stringify(sample.payload, null, 2));
  const [headers, setHeaders] = useState(sample.headers);
  const [result, setResult] = useState<IngestTestWebhookResult>();
  const wrong = mistakeInJson(payload);
  const test = useFormTask(async () => {
    setResult(
      await api.ingest.testWebhook({
        webhook_id: webhook.id,
        payload: JSON.parse(payload),
        headers: headersOf(headers),
      }),
    );
  });
  return (
    <Card title="Test">
      <Form
        task={test}
        submit="Test saved mapping"
        note="Nothing is published."
        disabled={wrong !== undefined}
      >
        <CodeArea label="Payload" required rows={9} value={payload} onChange={setPayload} error={wrong} />
        <CodeArea label="Headers" rows={2} value={headers} onChange={setHeaders} hint="One per line." />
      </Form>
      <div role="status" className="test-result">
        {result?.error && (
          <p className="notice bad">
            <CircleAlert aria-hidden size={16} /> The payload would be dead-lettered: {result.error}
          </p>
        )}
        {result?.event && <Json value={result.event} label="Resulting event" />}
      </div>
    </Card>
  );
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line));
  return Object.fromEntries(lines.filter((line) => line !== null).map(([, name, value]) => [name, value]));
}
