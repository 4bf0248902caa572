import { useNavigate } from "react-router";
import { api } from "../../data/api.ts";
import { capitalised, listed } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";
import { Duplicates } from "./duplicates.tsx";
import { TYPES } from "./words.tsx";

/** Creates a memory for the whole tenant: agents create their own. */
export function RememberDialog({ onClose }: { onClose(): void }) {
  const [{ title, content, type, tags }, field] = useDraft({
    title: "",
    content: "",
    type: "semantic" as (typeof TYPES)[number],
    tags: "",
  });
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const list = listed(tags);
    const made = await api.memories.create({ title, content, type, scope: "institutional", tags: list });
    toast({ title: "Memory created. Every agent can find it now." });
    navigate(`/memories/${made.id}`);
  });
  return (
    <FormDialog title="New memory" submit="Create memory" onClose={onClose} task={save}>
      <TextField label="Title" {...field("title")} required maxLength={500} />
      <TextArea
        label="Content"
        {...field("content")}
        required
        maxLength={32_768}
        rows={6}
        hint="Markdown. All agents of the organisation can find and read it."
      />
      <Duplicates title={title} content={content} />
      <SelectField
        label="Type"
        {...field("type")}
        options={TYPES.map((each) => ({ value: each, label: capitalised(each) }))}
      />
      <TextField label="Tags" {...field("tags")} hint="Separated by commas." />
    </FormDialog>
  );
}
