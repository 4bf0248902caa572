import { useState } from "react";
import type { Webhook } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { dateTime } from "../../data/format.ts";
import { useSaving } from "../../data/use-task.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Secret } from "../../ui/text.tsx";
import { senderOf } from "./senders.ts";

interface Rotated {
  signing_secret: string;
  previous_ends_at: string;
}

/** Replaces the secret: by the sender's new one, or by one that the sender is given. */
export function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const [given, setGiven] = useState("");
  const [rotated, setRotated] = useState<Rotated>();
  const { secret } = senderOf(webhook.mapping) ?? {};
  const rotate = useSaving({ onClose }, async () => {
    const signing_secret = given.trim();
    const answer = await api.ingest.rotateWebhook({
      webhook_id: webhook.id,
      ...(signing_secret && { signing_secret }),
    });
    if (!signing_secret) return setRotated(answer);
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
