import type { MouseEvent, ReactNode } from "react";
import { useNavigate } from "react-router";
import type { Loaded, Pages } from "../data/use-load.ts";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { useKeptFocus } from "./kept-focus.ts";
import { Skeleton } from "./page.tsx";

export interface Column<T> {
  /** Empty over what can be done with a row. */
  name: string;
  cell(row: T): ReactNode;
  /** A number or a time: to the right, digits in line. */
  end?: boolean;
  /** Left out where the screen is narrow. */
  wideOnly?: boolean;
}

interface TableProps<T> {
  /** What it lists, for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf(row: T): string;
  /** Where a row leads. The first cell should hold the same as a link, which keys reach. */
  linkOf?(row: T): string;
}

export function Table<T>({ label, columns, rows, keyOf, linkOf }: TableProps<T>) {
  const navigate = useNavigate();
  const section = useKeptFocus<HTMLElement>();
  const classOf = ({ name, end, wideOnly }: Column<T>) =>
    [name === "" && "act", end && "end", wideOnly && "wide-only"].filter(Boolean).join(" ") || undefined;
  const open = (row: T, { target, ctrlKey, metaKey, shiftKey }: MouseEvent) => {
    // Links and buttons in a row do what they say, and a tab of its own is the link's matter.
    if (!linkOf || ctrlKey || metaKey || shiftKey) return;
    if (!(target as HTMLElement).closest("a,button,input,label") && !getSelection()?.toString())
      navigate(linkOf(row));
  };
  return (
    // It can be scrolled by keys, too, where the screen is narrow.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={section} className="table-wrap" aria-label={label} tabIndex={0}>
      <table className={linkOf ? "table linked" : "table"}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={classOf(column)}>
                {column.name || <span className="visually-hidden">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} onClick={(event) => open(row, event)}>
              {columns.map((column) => (
                <td key={column.name} className={classOf(column)} data-name={column.name}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface ListProps<T> extends Omit<TableProps<T>, "rows"> {
  pages: Pages<T>;
  /** Above it while there is something in it: an empty list says itself what to do. */
  actions?: ReactNode;
  /** In place of an empty table. */
  empty: ReactNode;
}

/** A table that loads: skeleton, failure, emptiness, and more of it on demand. */
export function List<T>({ pages, actions, empty, ...table }: ListProps<T>) {
  const { items, error, loading, more, reload } = pages;
  if (!items) return error === undefined ? <Skeleton lines={6} /> : <Failure error={error} retry={reload} />;
  if (items.length === 0 && !more) return empty;
  return (
    <>
      {actions && <div className="row end list-actions">{actions}</div>}
      <Table {...table} rows={items} />
      {error !== undefined && <Failure error={error} retry={more ?? reload} />}
      {more && (
        <div className="more">
          <Button small busy={loading} onClick={more}>
            Load more
          </Button>
        </div>
      )}
    </>
  );
}

/** What was loaded, once it was; until then a skeleton, or the failure, which stands above what could not be loaded anew. */
export function Load<T>({
  of,
  lines,
  children,
}: {
  of: Loaded<T>;
  lines?: number;
  children(data: T): ReactNode;
}) {
  const { data, error, reload } = of;
  const failure = error !== undefined && <Failure error={error} retry={reload} />;
  if (data === undefined) return failure || <Skeleton lines={lines} />;
  return (
    <>
      {failure}
      {children(data)}
    </>
  );
}
