import { RefreshCw } from "lucide-react";
import { useState } from "react";
import { useParams } from "react-router";
import type { Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useFormTask } from "../../data/use-task.ts";
import { Button } from "../../ui/button.tsx";
import { DeleteButton } from "../../ui/confirm.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { TextField } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { Card, Facts } from "../../ui/page.tsx";
import { Load } from "../../ui/table.tsx";
import { Copy, Id, Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";
import { Requests } from "./requests.tsx";
import { RotateDialog } from "./rotate-dialog.tsx";
import { TestMapping } from "./test-mapping.tsx";
import { draftOfWebhook, WebhookMappingFields, webhookMappingOf } from "./webhook-mapping.tsx";
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
      actionsOf={(webhook) => <Actions webhook={webhook} />}
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
  const log = useFollowed("ingest", (signal) => api.ingest.listRequests({ webhook_id }, { signal }), [
    webhook_id,
  ]);
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

function Actions({ webhook }: { webhook: Webhook }) {
  const [rotating, setRotating] = useState(false);
  return (
    <>
      <Button icon={RefreshCw} onClick={() => setRotating(true)}>
        Rotate secret
      </Button>
      <DeleteButton
        name={webhook.name}
        text="New deliveries from the sender are refused. Published events are kept. This cannot be undone."
        act={() => api.ingest.deleteWebhook({ webhook_id: webhook.id })}
        to="/ingest"
      />
      {rotating && <RotateDialog webhook={webhook} onClose={() => setRotating(false)} />}
    </>
  );
}
