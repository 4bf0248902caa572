import { useState } from "react";
import { useNavigate } from "react-router";
import { isApiError, type Output } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { saveFile } from "../../data/save-file.ts";
import { listed } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useIsOwn } from "../../data/use-names.ts";
import { useSaving, useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Download, MoreHorizontal } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";

const FORMATS = [
  { value: "md", label: "Markdown" },
  { value: "html", label: "HTML" },
  { value: "pdf", label: "PDF" },
  { value: "docx", label: "Word" },
] as const;
type Format = (typeof FORMATS)[number]["value"];

interface Props {
  output: Output;
  reload(): Promise<void>;
}

/** Export, e-mail, filing, deletion. */
export function More({ output, reload }: Props) {
  const [open, setOpen] = useState<"mail" | "file" | null>(null);
  const own = useIsOwn()(output);
  const navigate = useNavigate();
  const close = () => setOpen(null);
  const save = useTask(async (format: Format) =>
    saveFile(await exported(output.id, format), `${output.slug}.${format}`),
  );
  const remove = useConfirmed(() => ({
    title: `Delete “${output.title}”?`,
    text: "All versions are erased, and searches no longer find it. This cannot be undone.",
    action: "Delete",
    act: () => api.outputs.delete({ output_id: output.id }),
    done: "Output deleted.",
    after: () => navigate("/outputs"),
  }));
  return (
    <>
      <Menu
        trigger={<Button label="Export" icon={Download} busy={save.busy} />}
        choices={FORMATS.map(({ value, label }) => ({ label, onSelect: () => save.run(value) }))}
      />
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Project and tags…", onSelect: () => setOpen("file") },
          { label: "Send by e-mail…", onSelect: () => setOpen("mail") },
          ...(own ? [{ label: "Delete…", onSelect: () => remove.run(), danger: true }] : []),
        ]}
      />
      {open === "mail" && <MailDialog output={output} onClose={close} />}
      {open === "file" && <FileDialog output={output} onClose={close} reload={reload} />}
    </>
  );
}

async function exported(output_id: string, format: Format): Promise<string | Blob> {
  try {
    return (await api.outputs.export({ output_id, format })) as string | Blob;
  } catch (error) {
    if (!isApiError(error, "not_found") || format === "md" || format === "html") throw error;
    throw new Error("This export is disabled. Ask the operator to set OUTPUT_EXPORT=true.");
  }
}

function MailDialog({ output, onClose }: { output: Output; onClose(): void }) {
  const [{ to, subject, format }, field] = useDraft({ to: "", subject: output.title, format: "" });
  const send = useSaving({ onClose }, async () => {
    const attached = format ? { attach_format: format as Format } : {};
    await api.outputs.email({ output_id: output.id, to: to.trim(), subject, ...attached });
    return `Sent to ${to.trim()}.`;
  });
  const mailOff = isApiError(send.error, "not_found")
    ? new Error("E-mail is disabled. Ask the operator to set OUTBOUND_EMAIL=true.")
    : send.error;
  return (
    <FormDialog title="Send by e-mail" submit="Send" onClose={onClose} task={send} error={mailOff}>
      <TextField label="To" type="email" {...field("to")} required />
      <TextField label="Subject" {...field("subject")} required maxLength={300} />
      <SelectField
        label="Attachment"
        {...field("format")}
        options={[{ value: "", label: "None: the text is in the e-mail" }, ...FORMATS]}
      />
    </FormDialog>
  );
}

function FileDialog({ output, onClose, reload }: Props & { onClose(): void }) {
  const [before] = useState(output);
  const [{ project, tags }, field] = useDraft({
    project: output.project_id ?? "",
    tags: output.tags.join(", "),
  });
  const save = useSaving({ onClose, onDone: reload }, async () => {
    const wanted = { project_id: project.trim() || null, tags: listed(tags) };
    const look = `/outputs/${output.id}`;
    if (!(await saveChanges(api.outputs, { output_id: output.id }, before, wanted, look))) return false;
  });
  return (
    <FormDialog title="Project and tags" submit="Save" onClose={onClose} task={save}>
      <TextField label="Project" {...field("project")} hint="A project's key. Empty: no project." />
      <TextField label="Tags" {...field("tags")} hint="Separated by commas." />
    </FormDialog>
  );
}
