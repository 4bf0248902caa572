import { useState } from "react";
import { Link, useParams } from "react-router";
import type { Webhook, WebhookRequest } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised, dateTime, number } from "../../data/format.ts";
import { useFollowed, useRead } from "../../data/use-load.ts";
import { DialogButton } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField, useDraft } from "../../ui/field.tsx";
import { DeleteButton, Form, FormDialog, saveChanges } from "../../ui/form-dialog.tsx";
import { RefreshCw } from "../../ui/icons.tsx";
import { DetailPage } from "../../ui/list-page.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { type Column, column, endColumn, Load, Table, wideColumn, wideEndColumn } from "../../ui/table.tsx";
import { toast, useFormTask, useSaving } from "../../ui/task.tsx";
import { Copy, Id, Secret, Time } from "../../ui/text.tsx";
import {
  draftOfWebhook,
  RequestOutcome,
  TestMapping,
  WebhookMappingFields,
  webhookMappingOf,
} from "./mapping.tsx";
import { senderOf } from "./senders.ts";
import "./ingest.css";

/** One webhook: its address, its mapping with a test, and its last requests. */
export function WebhookPage() {
  const { id = "" } = useParams();
  const loaded = useFollowed("ingest", (signal) => find(id, signal), [id]);
  return (
    <DetailPage
      of={loaded}
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
          <Card>
            <Facts
              wide="Address"
              of={{
                Address: (
                  <span className="row nowrap">
                    <code className="truncate">{data.url}</code>
                    <Copy text={data.url} label="Copy address" />
                  </span>
                ),
                Created: <Time at={data.created_at} />,
                ID: <Id>{data.id}</Id>,
              }}
            />
          </Card>
          <Editor webhook={data} onSaved={loaded.set} />
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

const whole = (webhook: Webhook): Webhook => ({
  ...webhook,
  mapping: webhookMappingOf(draftOfWebhook(webhook)),
});

const draftOf = (webhook: Webhook) => ({ name: webhook.name, mapping: draftOfWebhook(webhook) });

function Editor({ webhook, onSaved }: { webhook: Webhook; onSaved(webhook: Webhook): void }) {
  const [before, setBefore] = useState(webhook);
  const [draft, field, change] = useDraft(draftOf(webhook));
  const { id: webhook_id, source } = webhook;
  const log = useRead(api.ingest.listRequests, { webhook_id }, "ingest");
  const requests = log.data?.requests ?? [];
  const save = useFormTask(async () => {
    const webhooks = { get: async () => whole(await find(before.id)), update: api.ingest.updateWebhook };
    const wanted = { name: draft.name.trim(), mapping: webhookMappingOf(draft.mapping) };
    const which = { webhook_id: before.id };
    const saved = await saveChanges(webhooks, which, whole(before), wanted, `/ingest/webhooks/${before.id}`);
    if (!saved) return;
    // Includes others' concurrent changes.
    setBefore(saved);
    change(draftOf(saved));
    onSaved(saved);
    toast({ title: "Saved. Applies to new deliveries." });
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
            <TextField label="Name" {...field("name")} required maxLength={200} />
            <WebhookMappingFields source={source} {...field("mapping")} />
          </Form>
        </Card>
        <Card title="Test">
          <TestMapping
            webhook_id={webhook_id}
            source={source}
            mapping={webhookMappingOf(draft.mapping)}
            requests={requests}
          />
        </Card>
      </div>
      <Card title="Last requests">
        <Load of={log}>{() => <Requests requests={requests} />}</Load>
      </Card>
    </>
  );
}

const COLUMNS: Column<WebhookRequest>[] = [
  column("Outcome", (request) => <RequestOutcome request={request} />),
  column("Result", (request) => <Result request={request} />),
  wideColumn("Signature", ({ signature }) => signature ?? "–"),
  wideEndColumn("Bytes", ({ size }) => number(size)),
  endColumn("Received", ({ at }) => <Time at={at} />),
];

/** The last requests of a webhook, newest first. */
function Requests({ requests }: { requests: readonly WebhookRequest[] }) {
  if (requests.length === 0)
    return <p className="muted">No requests yet. Refused ones are shown here too, with the reason.</p>;
  return (
    <Table
      label="Last requests"
      columns={COLUMNS}
      rows={requests}
      keyOf={({ request_id, at }) => `${request_id} ${at}`}
    />
  );
}

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

interface Rotated {
  signing_secret: string;
  previous_ends_at: string;
}

/** Replaces the secret: by the sender's new one, or by one that the sender is given. */
function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const [given, setGiven] = useState("");
  const [rotated, setRotated] = useState<Rotated>();
  const { secret } = senderOf(webhook.mapping) ?? {};
  const rotate = useSaving({ onClose }, async () => {
    const signing_secret = given.trim();
    const answer = await api.ingest.rotateWebhook({
      webhook_id: webhook.id,
      ...(signing_secret && { signing_secret }),
    });
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
      <TextField
        label="New signing secret"
        value={given}
        onChange={setGiven}
        required={secret !== undefined}
        minLength={16}
        maxLength={256}
        className="mono"
        hint={secret ?? "Empty: a new one is created, which you enter at the sender before then."}
      />
    </FormDialog>
  );
}
