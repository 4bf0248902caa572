import { useState } from "react";
import { useNavigate } from "react-router";
import type { Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { knownName } from "../../data/names.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { mayOverwrite } from "../../ui/overwrite.tsx";
import { toast } from "../../ui/toast.tsx";

interface Props {
  /** The output that gets a new version; missing for a new output. */
  output?: Output;
  onClose(): void;
  onSaved?(): Promise<void>;
}

/** A new output is for the whole organisation; a new version keeps its readers. */
export function SaveDialog({ output, onClose, onSaved }: Props) {
  const [before] = useState(output);
  const [{ title, body, note }, field] = useDraft({
    title: output?.title ?? "",
    body: output?.body ?? "",
    note: "",
  });
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    if (before && !(await isStillLatest(before))) return;
    const named = title.trim() ? { title: title.trim() } : {};
    const version = { output_id: output?.id ?? "", ...(note.trim() && { change_note: note.trim() }) };
    const saved = await api.outputs.save({
      body,
      ...named,
      ...(output ? version : { scope: "institutional" as const }),
    });
    toast({ title: `Saved as version ${saved.current_version_num}.` });
    onClose();
    if (output) await onSaved?.();
    else navigate(`/outputs/${saved.id}`, { replace: true });
  });
  return (
    <FormDialog
      wide
      title={output ? "New version" : "New output"}
      submit={output ? "Save version" : "Create output"}
      disabled={output?.body === body}
      onClose={onClose}
      task={save}
    >
      <TextField
        label="Title"
        {...field("title")}
        maxLength={300}
        hint={output ? undefined : "Default: the first heading."}
      />
      <TextArea
        label="Text"
        className="mono"
        {...field("body")}
        rows={16}
        required
        hint={
          output
            ? "Markdown. Earlier versions are unchanged."
            : "Markdown. Everyone in the organisation can read it."
        }
      />
      {output && <TextField label="Change note" {...field("note")} maxLength={2000} />}
    </FormDialog>
  );
}

/** Returns whether no other version was saved meanwhile, or the person wants to save on top of it. */
async function isStillLatest({ id, current_version_num }: Output): Promise<boolean> {
  const { versions } = await api.outputs.listVersions({ output_id: id });
  const [latest] = versions;
  if (!latest || latest.version_num === current_version_num) return true;
  const by = knownName(latest.authored_by_user_id ?? latest.authored_by_agent_id ?? "") ?? "Someone";
  const text = `${by} has saved version ${latest.version_num} since you opened this form. Yours becomes the next version, without those changes.`;
  return mayOverwrite({ text, look: `/outputs/${id}?tab=versions` });
}
