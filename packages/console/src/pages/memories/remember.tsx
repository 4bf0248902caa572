import { useState } from "react";
import { useNavigate } from "react-router";
import { api } from "../../data/api.ts";
import { listed } from "../../data/text.ts";
import { useFormTask } from "../../data/use-task.ts";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";
import { TYPES } from "./words.tsx";

/** Creates a memory for the whole tenant: agents create their own. */
export function RememberDialog({ onClose }: { onClose(): void }) {
  const [title, setTitle] = useState("");
  const [content, setContent] = useState("");
  const [type, setType] = useState<(typeof TYPES)[number]>("semantic");
  const [tags, setTags] = useState("");
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const list = listed(tags);
    const made = await api.memories.create({ title, content, type, scope: "institutional", tags: list });
    toast({ title: "Remembered: every agent can find it now." });
    navigate(`/memories/${made.id}`);
  });
  return (
    <FormDialog title="Remember something" submit="Remember" onClose={onClose} task={save}>
      <TextField label="Title" value={title} onChange={setTitle} required maxLength={500} />
      <TextArea
        label="Content"
        value={content}
        onChange={setContent}
        required
        maxLength={32_768}
        rows={6}
        hint="Markdown. All agents of the organisation will be able to find and read it."
      />
      <SelectField
        label="Type"
        value={type}
        onChange={(value) => setType(value as typeof type)}
        options={TYPES.map((each) => ({ value: each, label: each }))}
      />
      <TextField label="Tags" value={tags} onChange={setTags} hint="Separated by commas." />
    </FormDialog>
  );
}
