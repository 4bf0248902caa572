import { type ChangeEvent, useId } from "react";
import { useNavigate, useSearchParams } from "react-router";
import type { Exemplar } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { bytes } from "../../data/format.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFollowed } from "../../data/use-fresh.ts";
import { useFormTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { BookMarked } from "../../ui/icons.tsx";
import { ListPage, wholeList } from "../../ui/list-page.tsx";
import { type Column, column, endColumn, Titled, wideColumn } from "../../ui/table.tsx";
import { Time } from "../../ui/text.tsx";
import { toast } from "../../ui/toast.tsx";

const COLUMNS: Column<Exemplar>[] = [
  column("Exemplar", ({ id, display_name, original_filename }) => (
    <Titled to={`/exemplars/${id}`} title={display_name}>
      {original_filename}
    </Titled>
  )),
  wideColumn("Kind", ({ media_type }) => (media_type === "text/markdown" ? "Markdown" : "Text")),
  endColumn("Size", ({ byte_size }) => bytes(byte_size)),
  endColumn("Created", ({ created_at }) => <Time at={created_at} />),
];

/** Texts that runs follow as examples. */
export function Exemplars() {
  const q = (useSearchParams()[0].get("q") ?? "").toLowerCase();
  const load = (signal: AbortSignal) => api.exemplars.list({}, { signal });
  const loaded = useFollowed("exemplar", load, [], { name: "exemplars" });
  return (
    <ListPage
      title="Exemplars"
      lead="Texts that show how a result should look. Runs have them attached, and steps point to them."
      create="Add exemplar"
      dialog={(onClose) => <AddDialog onClose={onClose} />}
      searched
      pages={wholeList(loaded, (all) => all.filter((each) => namesOf(each).includes(q)))}
      columns={COLUMNS}
      linkOf={({ id }) => `/exemplars/${id}`}
      icon={BookMarked}
      none="Add a text or Markdown file that agents should follow, such as a release note that you like."
    />
  );
}

const namesOf = ({ display_name, original_filename }: Exemplar) =>
  `${display_name} ${original_filename}`.toLowerCase();

const MAX_BYTES = 1_048_576;

/** Adds a text, from a file or typed. The same text is stored once. */
function AddDialog({ onClose }: { onClose(): void }) {
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
