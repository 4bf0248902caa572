import { useState } from "react";
import type { Channel } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { toast } from "../../ui/toast.tsx";

interface Props {
  /** The channel to edit; without it, a new one is created. */
  channel?: Channel;
  onClose(): void;
  onSaved(channel: Channel): unknown;
}

/** Returns the saved channel; null if others changed the same fields and the person keeps theirs. */
const saveChannel = (before: Channel, wanted: Partial<Channel>) =>
  saveChanges(api.channels, { channel_id: before.id }, before, wanted, `/channels/${before.id}`);

export function ChannelForm({ channel, onClose, onSaved }: Props) {
  const [before] = useState(channel);
  const [{ name, description }, field] = useDraft({
    name: channel?.name ?? "",
    description: channel?.description ?? "",
  });
  const save = useFormTask(async () => {
    const wanted = { name, description: description || null };
    const saved = before ? await saveChannel(before, wanted) : await api.channels.create(wanted);
    if (!saved) return;
    toast({ title: channel ? "Saved." : `${saved.name} created.` });
    await onSaved(saved);
  });
  return (
    <FormDialog
      title={channel ? "Edit channel" : "New channel"}
      submit={channel ? "Save" : "Create channel"}
      onClose={onClose}
      task={save}
    >
      <TextField label="Name" required {...field("name")} placeholder="deployments" hint="Must be unique." />
      <TextArea label="Description" rows={2} {...field("description")} />
    </FormDialog>
  );
}
