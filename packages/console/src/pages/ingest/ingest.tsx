import { useState } from "react";
import { Link } from "react-router";
import type { Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { capitalised } from "../../data/format.ts";
import { useList } from "../../data/use-list.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField, useDraft } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { Webhook as WebhookIcon } from "../../ui/icons.tsx";
import { EditableList } from "../../ui/list-page.tsx";
import { Page } from "../../ui/page.tsx";
import { type Column, column, wideColumn } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useFormTask } from "../../ui/task.tsx";
import { Copy, Secret, Time } from "../../ui/text.tsx";
import { Connectors } from "./connectors.tsx";
import {
  RequestOutcome,
  TestMapping,
  typeOfWebhook,
  type WebhookDraft,
  WebhookMappingFields,
  webhookMappingOf,
} from "./mapping.tsx";
import { senderOf } from "./senders.ts";
import "./ingest.css";

/** Events from other systems. */
export function Ingest() {
  return (
    <Page title="Ingest" lead="Events from other systems, through webhooks and message brokers.">
      <Tabs
        label="Ingest"
        tabs={[
          { key: "webhooks", label: "Webhooks", content: <Webhooks /> },
          { key: "connectors", label: "Connectors", content: <Connectors /> },
        ]}
      />
    </Page>
  );
}

const COLUMNS: Column<Webhook>[] = [
  column("Webhook", ({ id, name }) => (
    <Link to={`/ingest/webhooks/${id}`} className="strong-link">
      {name}
    </Link>
  )),
  column("Address", ({ url }) => (
    <span className="row nowrap">
      <code className="truncate address">{url}</code>
      <Copy text={url} label="Copy address" />
    </span>
  )),
  wideColumn("Type", ({ source, mapping }) => <code>{typeOfWebhook({ source, mapping })}</code>),
  column("Last request", ({ last_request }) =>
    last_request ? (
      <span className="last-request">
        <span className="row">
          <RequestOutcome request={last_request} /> <Time at={last_request.at} />
        </span>
        {last_request.reason && (
          <span className={last_request.outcome === "refused" ? "small connector-error" : "small muted"}>
            {capitalised(last_request.reason)}
          </span>
        )}
      </span>
    ) : (
      "No requests yet"
    ),
  ),
];

function Webhooks() {
  const pages = useList(api.ingest.listWebhooks, {}, "webhooks", "ingest");
  return (
    <EditableList
      pages={pages}
      label="Webhooks"
      columns={COLUMNS}
      linkOf={({ id }) => `/ingest/webhooks/${id}`}
      add="Add webhook"
      empty={{
        icon: WebhookIcon,
        title: "No webhooks yet",
        text: "Add a webhook for a sender such as GitHub: it gets an address and a signing secret, and each delivery becomes an event.",
      }}
      dialog={(_, onClose) => <AddDialog onClose={onClose} onDone={pages.reload} />}
    />
  );
}

type Created = Awaited<ReturnType<typeof api.ingest.createWebhook>>;

const newDraft = { name: "", source: "", secret: "", mapping: "github" as WebhookDraft };

function AddDialog({ onClose, onDone }: SavingProps) {
  const [draft, field] = useDraft(newDraft);
  const [made, setMade] = useState<Created>();
  const format = webhookMappingOf(draft.mapping);
  const sender = senderOf(format);
  const name = draft.name.trim() || (sender?.title ?? "");
  const source = draft.source.trim() || (sender && typeof format === "string" ? format : "");
  const add = useFormTask(async () => {
    const signing_secret = draft.secret.trim();
    setMade(
      await api.ingest.createWebhook({
        name,
        source,
        mapping: format,
        ...(signing_secret && { signing_secret }),
      }),
    );
    await onDone();
  });
  if (made) return <MadeDialog made={made} given={draft.secret !== ""} onClose={onClose} />;
  return (
    <FormDialog wide title="New webhook" submit="Add webhook" onClose={onClose} task={add}>
      <WebhookMappingFields source={source} {...field("mapping")} />
      <div className="grid-2">
        <TextField label="Name" {...field("name")} required={!sender} placeholder={name} maxLength={200} />
        <TextField
          label="Source"
          {...field("source")}
          required={!sender}
          maxLength={300}
          placeholder={source || "shop"}
          hint="Part of the address and of the event type."
        />
      </div>
      <TextField
        label="Signing secret"
        {...field("secret")}
        required={sender?.secret !== undefined}
        minLength={16}
        maxLength={256}
        className="mono"
        hint={sender?.secret ?? "Empty: a new one is created, which you enter at the sender."}
      />
      <details className="more-fields">
        <summary>Test the mapping</summary>
        <TestMapping webhook_id={null} source={source} mapping={format} />
      </details>
    </FormDialog>
  );
}

function MadeDialog({ made, given, onClose }: { made: Created; given: boolean; onClose(): void }) {
  const test = <ButtonLink label="Open webhook" to={`/ingest/webhooks/${made.id}`} />;
  return (
    <Dialog title={`${made.name} added`} onClose={onClose} footer={test} done="Done">
      <div className="stack">
        <Secret label="Address" value={made.url} note="The sender posts its deliveries here." />
        {!given && (
          <Secret
            label="Signing secret"
            value={made.signing_secret}
            note="Shown only once. The sender signs with it; unsigned deliveries are refused."
          />
        )}
      </div>
    </Dialog>
  );
}
