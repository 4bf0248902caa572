import { useState } from "react";
import type { Channel } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { changesOf } from "../../data/changes.ts";
import { useTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";

interface Props {
  /** The one to change; without it a new one is made. */
  channel?: Channel;
  onClose(): void;
  onSaved(channel: Channel): unknown;
}

export function ChannelForm({ channel, onClose, onSaved }: Props) {
  const [before] = useState(channel);
  const [name, setName] = useState(channel?.name ?? "");
  const [description, setDescription] = useState(channel?.description ?? "");
  const save = useTask(
    async () => {
      const wanted = { name, description: description || null };
      const saved = before
        ? await api.channels.update({ ...changesOf(before, wanted), channel_id: before.id })
        : await api.channels.create(wanted);
      toast({ title: channel ? "Saved." : `${saved.name} is there.` });
      await onSaved(saved);
    },
    { quiet: true },
  );
  return (
    <FormDialog
      title={channel ? "Edit channel" : "New channel"}
      submit={channel ? "Save" : "Make channel"}
      onClose={onClose}
      task={save}
    >
      <TextField
        label="Name"
        required
        value={name}
        onChange={setName}
        placeholder="deployments"
        hint="No other channel may have it."
      />
      <TextArea label="Description" rows={2} value={description} onChange={setDescription} />
    </FormDialog>
  );
}
