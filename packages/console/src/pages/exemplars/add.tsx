import { type ChangeEvent, useId } from "react";
import { useNavigate } from "react-router";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";

const MAX_BYTES = 1_048_576;

/** Adds a text, from a file or typed. The same text is stored once. */
export function AddDialog({ onClose }: { onClose(): void }) {
  const [{ name, filename, content }, field, change] = useDraft({ name: "", filename: "", content: "" });
  const navigate = useNavigate();
  const add = useFormTask(async () => {
    const before = await api.exemplars.list();
    const display_name = name.trim();
    const made = await api.exemplars.create({
      display_name,
      filename: filename.trim() || "text.md",
      content,
    });
    const known = before.find(({ id }) => id === made.id);
    toast({ title: known ? `This text exists already, as “${known.display_name}”.` : "Exemplar added." });
    navigate(`/exemplars/${made.id}`, { replace: true });
  });
  const read = useFormTask(async (file: File) => {
    if (file.size > MAX_BYTES)
      throw new Error(`${file.name} has ${bytes(file.size)}. At most 1 MB is allowed.`);
    change({ content: await file.text(), filename: file.name, ...(!name && { name: file.name }) });
  });
  return (
    <FormDialog
      wide
      title="New exemplar"
      submit="Add exemplar"
      onClose={onClose}
      task={add}
      error={add.error ?? read.error}
    >
      <FileField onChoose={(file) => read.run(file)} />
      <TextField
        label="Name"
        {...field("name")}
        required
        maxLength={200}
        placeholder="A release note we like"
      />
      <TextField
        label="File name"
        {...field("filename")}
        maxLength={255}
        placeholder="text.md"
        hint="A name that ends in .md is Markdown; others are plain text."
      />
      <TextArea
        label="Text"
        {...field("content")}
        required
        rows={10}
        hint="Stored unchanged, at most 1 MB."
      />
    </FormDialog>
  );
}

function FileField({ onChoose }: { onChoose(file: File): void }) {
  const id = useId();
  const choose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const file = target.files?.[0];
    if (file) onChoose(file);
  };
  return (
    <div className="field">
      <label htmlFor={id}>File</label>
      <input id={id} type="file" className="input" accept=".md,.markdown,.txt,text/*" onChange={choose} />
      <p className="field-hint">Or type or paste the text below.</p>
    </div>
  );
}
