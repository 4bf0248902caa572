import { useNavigate } from "react-router";
import type { Specialist } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useFormTask } from "../../data/use-task.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.tsx";

interface Props {
  /** The latest version; missing for a new specialist. */
  of?: Specialist;
  onClose(): void;
  onSaved?(): Promise<void>;
}

const MAX = 100_000;

/** Writes the next version of a specialist, or the first of a new one. */
export function WriteDialog({ of, onClose, onSaved }: Props) {
  const [draft, field] = useDraft({
    name: of?.name ?? "",
    description: of?.description ?? "",
    system_prompt: of?.system_prompt ?? "",
    memory_search_directives: of?.memory_search_directives ?? "",
    output_format_rules: of?.output_format_rules ?? "",
  });
  const navigate = useNavigate();
  const save = useFormTask(async () => {
    const name = draft.name.trim();
    if (!of) await requireNew(name);
    const { version_num } = await api.specialists.write({
      ...{ name, system_prompt: draft.system_prompt },
      description: draft.description || null,
      memory_search_directives: draft.memory_search_directives || null,
      output_format_rules: draft.output_format_rules || null,
    });
    toast({ title: `Saved as version ${version_num}.` });
    onClose();
    if (of) await onSaved?.();
    else navigate(`/specialists/${name}`, { replace: true });
  });
  return (
    <FormDialog
      wide
      title={of ? `New version of ${of.name}` : "New specialist"}
      submit={of ? "Save version" : "Create specialist"}
      onClose={onClose}
      task={save}
    >
      {!of && (
        <TextField
          label="Name"
          {...field("name")}
          required
          maxLength={100}
          pattern="[a-z0-9]+([._\-][a-z0-9]+)*"
          title="Lower-case letters and digits, separated by . _ or -"
          placeholder="contract-reviewer"
          hint="Agents load it by this name. It cannot be changed."
        />
      )}
      <TextField label="Description" {...field("description")} maxLength={2000} />
      <TextArea label="System prompt" {...field("system_prompt")} required maxLength={MAX} rows={8} />
      <TextArea
        label="What to search the memories for"
        {...field("memory_search_directives")}
        maxLength={MAX}
        rows={3}
      />
      <TextArea label="Format of results" {...field("output_format_rules")} maxLength={MAX} rows={3} />
    </FormDialog>
  );
}

/** Writing an existing name would add a version to it. */
async function requireNew(name: string): Promise<void> {
  const { specialists } = await api.specialists.list();
  if (specialists.some((each) => each.name === name))
    throw new Error(`${name} already exists. Choose another name, or open it to write its next version.`);
}
