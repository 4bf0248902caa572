import { useState } from "react";
import { Link, useParams } from "react-router";
import type { IngestRotateWebhookResult, Webhook, WebhookRequest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, dateTime, filled, number } from "../../data/format.ts";
import { useFollowed, useRead } from "../../data/queries.ts";
import { DialogButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { text, useForm } from "../../ui/form.tsx";
import { DeleteButton, Form, FormDialog } from "../../ui/form-dialog.tsx";
import { RefreshCw } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Card, FactsCard } from "../../ui/page.tsx";
import { type Column, column, endColumn, Load, Table, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask, useSaving } from "../../ui/task.tsx";
import { Badge, Copied, Id, Secret, Time } from "../../ui/text.tsx";
import { SIGNING } from "./ingest.tsx";
import { OUTCOMES, TestMapping, WebhookMappingFields, webhookField } from "./mapping.tsx";
import { senderOf } from "./senders.ts";
import { SignatureFields, signatureField } from "./signature.tsx";
import "./ingest.css";

export function WebhookPage() {
  const { id = "" } = useParams();
  return (
    <DetailPage
      of={useFollowed("ingest", (signal) => find(id, signal), [id])}
      kind="Webhook"
      above={{ "/ingest": "Ingest" }}
      titleOf={({ name }) => name}
      actionsOf={(webhook) => (
        <>
          <DialogButton
            label="Rotate secret"
            icon={RefreshCw}
            dialog={(onClose) => <RotateDialog webhook={webhook} onClose={onClose} />}
          />
          <DeleteButton
            name={webhook.name}
            text="New deliveries from the sender are refused. Published events are kept. This cannot be undone."
            act={() => api.ingest.deleteWebhook({ webhook_id: webhook.id })}
            to="/ingest"
          />
        </>
      )}
    >
      {(data) => (
        <div className="stack">
          <FactsCard
            wide="Address"
            of={{
              Address: <Copied text={data.url} label="Copy address" />,
              Created: <Time at={data.created_at} />,
              ID: <Id>{data.id}</Id>,
            }}
          />
          <Editor webhook={data} />
        </div>
      )}
    </DetailPage>
  );
}

/** The API only offers a list. */
async function find(id: string, signal?: AbortSignal): Promise<Webhook> {
  for await (const each of api.ingest.listWebhooks.all({ limit: 200 }, { ...(signal && { signal }) }))
    if (each.id === id) return each;
  throw new Error("Webhook not found. It does not exist, or was deleted.");
}

const EDITED = {
  name: text("Name", { required: true, maxLength: 200 }),
  mapping: webhookField,
  signature: signatureField,
};

function Editor({ webhook }: { webhook: Webhook }) {
  const form = useForm(EDITED, webhook);
  const { id: webhook_id, source } = webhook;
  const log = useRead(api.ingest.listRequests, { webhook_id }, "ingest");
  const requests = log.data?.requests ?? [];
  const values = form.values();
  const isPreset = senderOf(values.mapping) !== undefined;
  const save = useFormTask(async () => {
    const webhooks = { get: () => find(webhook_id), update: api.ingest.updateWebhook };
    const wanted = { ...values, ...(isPreset && { signature: null }) };
    const saved = await form.save(webhooks, { webhook_id }, `/ingest/webhooks/${webhook_id}`, wanted);
    if (saved) toast({ title: "Saved. Applies to new deliveries." });
  });
  return (
    <>
      <div className="sides">
        <Card title="Mapping">
          <Form
            task={save}
            submit="Save"
            note="Earlier mapping failures can be replayed from the dead letters."
          >
            {form.show("name")}
            <WebhookMappingFields
              source={source}
              value={form.drafts.mapping}
              onChange={(mapping) => form.change({ mapping })}
            />
            {!isPreset && (
              <SignatureFields
                value={form.drafts.signature}
                onChange={(signature) => form.change({ signature })}
              />
            )}
          </Form>
        </Card>
        <Card title="Test">
          <TestMapping webhook_id={webhook_id} source={source} mapping={values.mapping} requests={requests} />
        </Card>
      </div>
      <Card title="Last requests">
        <Load of={log}>
          {() =>
            requests.length === 0 ? (
              <p className="muted">No requests yet. Refused ones are shown here too, with the reason.</p>
            ) : (
              <Table label="Last requests" columns={COLUMNS} rows={requests} keyOf={keyOf} />
            )
          }
        </Load>
      </Card>
    </>
  );
}

const COLUMNS: Column<WebhookRequest>[] = [
  column("Outcome", (request) => <Badge {...OUTCOMES[request.outcome]} dot />),
  column("Result", (request) => <Result request={request} />),
  wideColumn("Signature", ({ signature }) => signature ?? "–"),
  wideEndColumn("Bytes", ({ size }) => number(size)),
  endColumn("Received", ({ at }) => <Time at={at} />),
];

const keyOf = ({ request_id, at }: WebhookRequest) => `${request_id} ${at}`;

function Result({ request: { reason, event_id, events, dead_letter_id } }: { request: WebhookRequest }) {
  if (dead_letter_id)
    return (
      <>
        {capitalised(reason ?? "")} <Link to="/dead-letters">Dead letters</Link>
      </>
    );
  if (!event_id) return <>{reason ? capitalised(reason) : "–"}</>;
  return <Link to={`/events/${event_id}`}>{events > 1 ? `First of ${events} events` : "Event"}</Link>;
}

const ROTATION = { signing_secret: text("New signing secret", SIGNING) };

/** Replaces the secret: by the sender's new one, or by one that the sender is given. */
function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const form = useForm(ROTATION);
  const [rotated, setRotated] = useState<IngestRotateWebhookResult>();
  const { secret } = senderOf(webhook.mapping) ?? {};
  const rotate = useSaving(onClose, async () => {
    const { signing_secret } = form.values();
    const answer = await api.ingest.rotateWebhook(filled({ webhook_id: webhook.id, signing_secret }));
    if (!signing_secret) {
      setRotated(answer);
      return false;
    }
    return `Saved. The old secret is accepted until ${dateTime(answer.previous_ends_at)}.`;
  });
  if (rotated)
    return (
      <Dialog title="New signing secret" onClose={onClose} done="Done">
        <Secret
          label="Signing secret"
          value={rotated.signing_secret}
          note={`Shown only once. The old secret is accepted until ${dateTime(rotated.previous_ends_at)}.`}
        />
      </Dialog>
    );
  return (
    <FormDialog
      title={`Rotate the secret of ${webhook.name}`}
      submit="Rotate secret"
      onClose={onClose}
      task={rotate}
    >
      <p>The old secret is accepted for another 24 hours. This cannot be undone.</p>
      {form.show("signing_secret", {
        required: secret !== undefined,
        hint: secret ?? "Empty: a new one is created, which you enter at the sender before then.",
      })}
    </FormDialog>
  );
}
