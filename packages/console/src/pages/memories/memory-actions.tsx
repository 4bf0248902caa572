import { MoreHorizontal, Pencil } from "lucide-react";
import { useState } from "react";
import type { MemoryWithUsage } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useIsOwn } from "../../data/use-names.ts";
import { useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { confirm } from "../../ui/confirm.tsx";
import { Menu } from "../../ui/menu.tsx";
import { toast } from "../../ui/toast.tsx";
import { EditDialog, PromoteDialog, RelateDialog, SupersedeDialog } from "./memory-dialogs.tsx";

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
  const forget = useTask(async () => {
    const wanted = await confirm({
      title: `Forget “${memory.title}”?`,
      text: "No search finds it from now on. For 30 days it can be restored; then it is purged.",
      action: "Forget",
    });
    if (!wanted) return;
    await api.memories.forget({ id: memory.id });
    toast({ title: "Forgotten. It can be restored within 30 days." });
    await reload();
  });
  const restore = useTask(async () => {
    await api.memories.restore({ id: memory.id });
    toast({ title: "Restored: it is found again." });
    await reload();
  });
  if (memory.status === "forgotten") {
    return (
      <Button kind="primary" busy={restore.busy} onClick={() => restore.run()}>
        Restore
      </Button>
    );
  }
  const OpenDialog = open && DIALOGS[open];
  return (
    <>
      {own && (
        <Button icon={Pencil} onClick={() => setOpen("edit")}>
          Edit
        </Button>
      )}
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label="More actions" />}
        choices={[
          { label: "Relate to another…", onSelect: () => setOpen("relate") },
          ...(own && memory.scope !== "institutional"
            ? [{ label: "Let more read it…", onSelect: () => setOpen("promote") }]
            : []),
          ...(own && memory.status === "active"
            ? [{ label: "Replace by another…", onSelect: () => setOpen("supersede") }]
            : []),
          ...(own ? [{ label: "Forget…", onSelect: () => forget.run(), danger: true }] : []),
        ]}
      />
      {OpenDialog && <OpenDialog memory={memory} onClose={() => setOpen(null)} onDone={reload} />}
    </>
  );
}
