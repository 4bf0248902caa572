import { useState } from "react";
import type { MemoryWithUsage } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { findMemories, findTeams } from "../../data/find.ts";
import { listed } from "../../data/text.ts";
import { useDraft } from "../../data/use-draft.ts";
import { useLoad } from "../../data/use-load.ts";
import { useIsOwn } from "../../data/use-names.ts";
import { useSaving, useTask } from "../../data/use-task.ts";
import { useSession } from "../../shell/session.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { type Choice, Combo } from "../../ui/combo.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { FormDialog, type SavingProps } from "../../ui/form-dialog.tsx";
import { MoreHorizontal, Pencil } from "../../ui/icons.tsx";
import { Menu } from "../../ui/menu.tsx";
import { saveChanges } from "../../ui/overwrite.tsx";
import { toast } from "../../ui/toast.tsx";
import { madeHere } from "./made-here.ts";

type Props = SavingProps & { memory: MemoryWithUsage };

function EditDialog({ memory, onClose, onDone }: Props) {
  const [before] = useState(memory);
  const [{ title, content, confidence, importance, tags }, field] = useDraft({
    title: memory.title,
    content: memory.content,
    confidence: String(memory.confidence),
    importance: String(memory.importance),
    tags: memory.tags.join(", "),
  });
  const save = useSaving({ onClose, onDone }, async () => {
    const shares = { confidence: Number(confidence), importance: Number(importance) };
    const wanted = { title, content, ...shares, tags: listed(tags) };
    const look = `/memories/${memory.id}`;
    if (!(await saveChanges(api.memories, { id: memory.id }, before, wanted, look))) return false;
    return "Saved.";
  });
  const share = { type: "number", min: 0, max: 1, step: 0.05, required: true };
  return (
    <FormDialog title="Edit memory" submit="Save" onClose={onClose} task={save}>
      <TextField label="Title" {...field("title")} required maxLength={500} />
      <TextArea label="Content" {...field("content")} required maxLength={32_768} rows={8} />
      <div className="grid-2">
        <TextField label="Confidence" {...share} {...field("confidence")} hint="0 to 1: how certain it is." />
        <TextField
          label="Importance"
          {...share}
          {...field("importance")}
          hint="0 to 1: how much it matters."
        />
      </div>
      <TextField label="Tags" {...field("tags")} hint="Separated by commas." />
    </FormDialog>
  );
}

function PromoteDialog({ memory, onClose, onDone }: Props) {
  const [{ scope, team }, field] = useDraft({
    scope: "institutional" as "team" | "institutional",
    team: null as Choice | null,
  });
  const { may } = useSession();
  const save = useSaving({ onClose, onDone }, async () => {
    await api.memories.promote({
      id: memory.id,
      scope,
      ...(scope === "team" && team && { team_id: team.id }),
    });
    return scope === "team" ? "The team can now read it." : "Everyone in the organisation can now read it.";
  });
  const options = [
    ...(memory.scope === "agent" ? [{ value: "team", label: "The owning agent's team" }] : []),
    { value: "institutional", label: "Everyone in the organisation" },
  ];
  return (
    <FormDialog title="Promote memory" submit="Promote" onClose={onClose} task={save}>
      <SelectField
        label="Readers"
        {...field("scope")}
        options={options}
        hint="Access can only be widened. This cannot be undone."
      />
      {scope === "team" && may("teams.list") && (
        <Combo label="Team" {...field("team")} find={findTeams} none="The owning agent's team" />
      )}
    </FormDialog>
  );
}

function RelateDialog({ memory, onClose, onDone }: Props) {
  const [{ type, target, strength }, field] = useDraft({
    type: "related_to",
    target: null as Choice | null,
    strength: "0.5",
  });
  const types = useLoad((signal) => api.relationships.types({}, { signal }), []);
  const known = types.data?.relationship_types ?? [];
  const save = useSaving({ onClose, onDone }, async () => {
    const made = await api.relationships.create({
      id: memory.id,
      target_memory_id: target?.id ?? "",
      relationship_type: type,
      strength: Number(strength),
    });
    madeHere.add(made.id);
    return "Relationship added.";
  });
  return (
    <FormDialog
      title="New relationship"
      submit="Add relationship"
      disabled={!target}
      onClose={onClose}
      task={save}
      error={save.error ?? types.error}
    >
      <SelectField
        label="Relationship type"
        {...field("type")}
        options={known.map(({ name }) => ({ value: name, label: name.replaceAll("_", " ") }))}
        hint={known.find(({ name }) => name === type)?.description}
      />
      <Combo label="Target memory" {...field("target")} find={others(memory)} />
      <TextField label="Strength" type="number" min={0} max={1} step={0.05} {...field("strength")} />
    </FormDialog>
  );
}

function SupersedeDialog({ memory, onClose, onDone }: Props) {
  const [by, setBy] = useState<Choice | null>(null);
  const save = useSaving({ onClose, onDone }, async () => {
    await api.memories.supersede({ id: memory.id, superseded_by_id: by?.id ?? "" });
    return "Superseded. Searches return the newer memory.";
  });
  return (
    <FormDialog title="Supersede memory" submit="Supersede" disabled={!by} onClose={onClose} task={save}>
      <p className="muted">
        “{memory.title}” stays readable, but searches return it only if superseded memories are included. This
        cannot be undone.
      </p>
      <Combo label="Superseded by" value={by} onChange={setBy} find={others(memory)} />
    </FormDialog>
  );
}

/** Finds memories other than the current one. */
const others = (memory: MemoryWithUsage) => async (text: string, signal: AbortSignal) =>
  (await findMemories(text, signal)).filter(({ id }) => id !== memory.id);

const DIALOGS = {
  edit: EditDialog,
  promote: PromoteDialog,
  relate: RelateDialog,
  supersede: SupersedeDialog,
};

/** The possible actions on a memory. */
export function Actions({ memory, reload }: { memory: MemoryWithUsage; reload(): Promise<void> }) {
  const [open, setOpen] = useState<keyof typeof DIALOGS | null>(null);
  const own = useIsOwn()(memory);
  const forget = useConfirmed(() => ({
    title: `Forget “${memory.title}”?`,
    text: "Searches no longer find it. You can restore it for 30 days; then it is deleted permanently.",
    action: "Forget",
    act: () => api.memories.forget({ id: memory.id }),
    done: "Forgotten. You can restore it within 30 days.",
    after: reload,
  }));
  const restore = useTask(async () => {
    await api.memories.restore({ id: memory.id });
    toast({ title: "Restored. Searches find it again." });
    await reload();
  });
  if (memory.status === "forgotten") {
    return <Button label="Restore" kind="primary" busy={restore.busy} onClick={() => restore.run()} />;
  }
  const OpenDialog = open && DIALOGS[open];
  return (
    <>
      {own && <Button label="Edit" icon={Pencil} onClick={() => setOpen("edit")} />}
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Add relationship…", onSelect: () => setOpen("relate") },
          ...(own && memory.scope !== "institutional"
            ? [{ label: "Promote…", onSelect: () => setOpen("promote") }]
            : []),
          ...(own && memory.status === "active"
            ? [{ label: "Supersede…", onSelect: () => setOpen("supersede") }]
            : []),
          ...(own ? [{ label: "Forget…", onSelect: () => forget.run(), danger: true }] : []),
        ]}
      />
      {OpenDialog && <OpenDialog memory={memory} onClose={() => setOpen(null)} onDone={reload} />}
    </>
  );
}
