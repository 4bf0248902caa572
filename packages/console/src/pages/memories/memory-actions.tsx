import { MoreHorizontal, Pencil } from "lucide-react";
import { useState } from "react";
import type { MemoryWithUsage } from "../../../../client/index.ts";
import { api } from "../../data/api.ts";
import { useIsOwn } from "../../data/use-names.ts";
import { useTask } from "../../data/use-task.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { useConfirmed } from "../../ui/confirm.tsx";
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
