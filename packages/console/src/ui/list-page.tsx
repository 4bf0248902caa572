import { type ComponentProps, type ReactNode, useState } from "react";
import type { Loaded, Pages } from "../data/queries.ts";
import { useAddress } from "../data/use-address.ts";
import { Button } from "./button.tsx";
import { type LucideIcon, Plus } from "./icons.tsx";
import { Empty, Page } from "./page.tsx";
import { ListSearch } from "./search.tsx";
import { type Column, List, type ListProps, Load } from "./table.tsx";

interface ListPageProps<T> extends Omit<ListProps<T>, "actions" | "empty" | "label"> {
  /** The plural of the listed things: "Channels". */
  title: string;
  lead: string;
  /** Of the button that creates one; false for those who may not. */
  create?: string | false;
  /** The dialog that creates one, or the action of the button. */
  dialog?(onClose: () => void): ReactNode;
  /** Other buttons, before the one that creates. */
  actions?: ReactNode;
  /** Above the list, close to it. */
  above?: ReactNode;
  /** Filters above the list that make up a separate bar. */
  bar?: ReactNode;
  /** Shown instead of the list: the results of a search by meaning. */
  instead?: ReactNode;
  /** Whether a text field filters the list (`?q=`). */
  searched?: boolean;
  /** Other filters, next to the text field. */
  filters?: ReactNode;
  icon: LucideIcon;
  /** The text of an empty list that nothing filters. */
  none?: ReactNode;
  /** Replaces the usual empty state. */
  empty?: ReactNode;
}

/**
 * A page that lists resources: header, search, table, empty state and the dialog that creates one, which is open at
 * `?create=1`.
 */
export function ListPage<T extends object>(props: ListPageProps<T>) {
  const {
    title,
    lead,
    create,
    dialog,
    actions,
    above,
    bar,
    instead,
    searched,
    filters,
    icon,
    none,
    empty,
    ...list
  } = props;
  const [search, change] = useAddress();
  const q = searched ? (search.get("q") ?? "") : "";
  const things = title.toLowerCase();
  const button = create && (
    <Button label={create} kind="primary" icon={Plus} onClick={() => change({ create: "1" })} />
  );
  const unmatched = (
    <Empty
      icon={icon}
      title={`No ${things} match “${q}”`}
      action={<Button label="Show all" onClick={() => change({ q: null })} />}
    />
  );
  const first = (
    <Empty icon={icon} title={`No ${things} yet`} action={button}>
      {none}
    </Empty>
  );
  const content = instead || <List {...list} label={title} empty={empty || (q ? unmatched : first)} />;
  return (
    <Page
      title={title}
      lead={lead}
      actions={
        (actions || button) && (
          <>
            {actions}
            {button}
          </>
        )
      }
    >
      {(searched || filters) && (
        <div className="list-bar">
          {searched && <ListSearch label={`Search ${things}`} />}
          {filters}
        </div>
      )}
      {bar}
      {above ? (
        <div className="stack">
          {above}
          {content}
        </div>
      ) : (
        content
      )}
      {create && search.get("create") && dialog?.(() => change({ create: null }))}
    </Page>
  );
}

/** The rows of a list that is loaded as a whole. */
export function wholeList<A, T>({ data, ...loaded }: Loaded<A>, rowsOf: (answer: A) => T[]): Pages<T> {
  return { ...loaded, items: data && rowsOf(data), more: undefined };
}

interface DetailPageProps<T> extends Pick<ComponentProps<typeof Page>, "above"> {
  of: Loaded<T>;
  /** The title while it loads: "Channel". */
  kind: string;
  titleOf(data: T): string;
  stateOf?(data: T): ReactNode;
  leadOf?(data: T): ReactNode;
  actionsOf?(data: T): ReactNode;
  lines?: number;
  children(data: T): ReactNode;
}

/** The page of one resource: header, and the content once loaded. */
export function DetailPage<T>(props: DetailPageProps<T>) {
  const { of, kind, above, titleOf, stateOf, leadOf, actionsOf, lines, children } = props;
  const { data } = of;
  const shown = (part?: (data: T) => ReactNode) => data !== undefined && part?.(data);
  return (
    <Page
      title={data === undefined ? kind : titleOf(data)}
      above={above}
      state={shown(stateOf)}
      lead={shown(leadOf)}
      actions={shown(actionsOf)}
    >
      <Load of={of} lines={lines}>
        {children}
      </Load>
    </Page>
  );
}

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
export function EditableList<T extends object>(props: EditableListProps<T>) {
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
