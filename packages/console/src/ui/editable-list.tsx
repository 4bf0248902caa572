import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { type LucideIcon, Plus } from "./icons.tsx";
import { Empty } from "./page.tsx";
import { type Column, List, type ListProps } from "./table.tsx";

interface EditableListProps<T> extends Omit<ListProps<T>, "actions" | "columns" | "empty"> {
  /** The label of the button that adds a row; false for those who may not. */
  add: string | false;
  kind?: "primary" | "plain";
  empty: { icon: LucideIcon; title: string; text: ReactNode };
  columns: readonly Column<T>[] | ((edit: (row: T) => void) => readonly Column<T>[]);
  /** The open dialog: for a row, or without one to add one. */
  dialog(row: T | undefined, onClose: () => void): ReactNode;
}

/** A list whose rows are added and edited in a dialog. */
export function EditableList<T>(props: EditableListProps<T>) {
  const { add, kind = "primary", empty, columns, dialog, ...list } = props;
  const [open, setOpen] = useState<{ row?: T }>();
  const button = add && <Button label={add} kind={kind} icon={Plus} onClick={() => setOpen({})} />;
  return (
    <>
      <List
        {...list}
        columns={typeof columns === "function" ? columns((row) => setOpen({ row })) : columns}
        actions={button}
        empty={
          <Empty icon={empty.icon} title={empty.title} action={button}>
            {empty.text}
          </Empty>
        }
      />
      {open && dialog(open.row, () => setOpen(undefined))}
    </>
  );
}
