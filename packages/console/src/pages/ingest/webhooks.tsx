import { Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import type { Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useList } from "../../data/use-list.ts";
import { useFormTask } from "../../data/use-task.ts";
import { Button, ButtonLink } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EditableList } from "../../ui/editable-list.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import type { Column } from "../../ui/table.tsx";
import { Copy, Secret, Time } from "../../ui/text.tsx";
import { emptyMapping } from "./mapping.tsx";
import {
  typeOfWebhook,
  type WebhookDraft,
  WebhookMappingFields,
  webhookMappingOf,
} from "./webhook-mapping.tsx";

const COLUMNS: Column<Webhook>[] = [
  {
    name: "Webhook",
    cell: ({ id, name }) => (
      <Link to={`/ingest/webhooks/${id}`} className="strong-link">
        {name}
      </Link>
    ),
  },
  {
    name: "Address",
    cell: ({ url }) => (
      <span className="row nowrap">
        <code className="truncate address">{url}</code>
        <Copy text={url} label="Copy address" />
      </span>
    ),
  },
  {
    name: "Type",
    cell: ({ source, mapping }) => <code>{typeOfWebhook({ source, mapping })}</code>,
    wideOnly: true,
  },
  { name: "Created", cell: ({ created_at }) => <Time at={created_at} />, end: true },
];

export function Webhooks() {
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

const GITHUB = {
  source: "github",
  mapping: {
    ...emptyMapping,
    entity: "header:X-GitHub-Event",
    action: "/action",
    subject: "/repository/full_name",
  },
};

type Created = Awaited<ReturnType<typeof api.ingest.createWebhook>>;

function AddDialog({ onClose, onDone }: SavingProps) {
  const [draft, field, change] = useDraft({ name: "", source: "", mapping: emptyMapping as WebhookDraft });
  const [made, setMade] = useState<Created>();
  const add = useFormTask(async () => {
    setMade(
      await api.ingest.createWebhook({
        name: draft.name.trim(),
        source: draft.source.trim(),
        mapping: webhookMappingOf(draft.mapping),
      }),
    );
    await onDone();
  });
  if (made) return <MadeDialog made={made} onClose={onClose} />;
  return (
    <FormDialog wide title="New webhook" submit="Add webhook" onClose={onClose} task={add}>
      <div className="row muted small">
        Preset
        <Button small onClick={() => change({ ...GITHUB, name: draft.name || "GitHub" })}>
          GitHub
        </Button>
      </div>
      <div className="grid-2">
        <TextField label="Name" {...field("name")} required maxLength={200} />
        <TextField
          label="Source"
          {...field("source")}
          required
          maxLength={300}
          placeholder="github"
          hint="Part of the address and of the event type."
        />
      </div>
      <WebhookMappingFields source={draft.source} {...field("mapping")} />
    </FormDialog>
  );
}

function MadeDialog({ made, onClose }: { made: Created; onClose(): void }) {
  const test = <ButtonLink to={`/ingest/webhooks/${made.id}`}>Test mapping</ButtonLink>;
  return (
    <Dialog title={`${made.name} added`} onClose={onClose} footer={test} done="Done">
      <div className="stack">
        <Secret label="Address" value={made.url} note="The sender posts its deliveries here." />
        <Secret
          label="Signing secret"
          value={made.signing_secret}
          note="Shown only once. The sender signs with it; unsigned deliveries are refused."
        />
      </div>
    </Dialog>
  );
}
