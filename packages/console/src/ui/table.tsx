import { type MouseEvent, type ReactNode, useEffect, useRef } from "react";
import { Link, type LinkProps } from "react-router";
import { number } from "../data/format.ts";
import { keyOf as keyOfRow } from "../data/merge-rows.ts";
import type { Loaded, Pages } from "../data/queries.ts";
import { Button } from "./button.tsx";
import { Failure } from "./failure.tsx";
import { ArrowUp } from "./icons.tsx";
import { Skeleton } from "./page.tsx";

export interface Column<T> {
  /** Empty for the column of actions. */
  name: string;
  cell(row: T): ReactNode;
  /** A number or a time: right-aligned, with tabular digits. */
  end?: boolean;
  /** Hidden on narrow screens. */
  wideOnly?: boolean;
  /** A word or two: no wider than that, also as the first column. */
  brief?: boolean;
}

type Cell<T> = (row: T) => ReactNode;

export const column = <T,>(name: string, cell: Cell<T>): Column<T> => ({ name, cell });
export const briefColumn = <T,>(name: string, cell: Cell<T>): Column<T> => ({ name, cell, brief: true });
export const endColumn = <T,>(name: string, cell: Cell<T>): Column<T> => ({ name, cell, end: true });
export const wideColumn = <T,>(name: string, cell: Cell<T>): Column<T> => ({ name, cell, wideOnly: true });
/** At the end of the row, and hidden on narrow screens. */
export const wideEndColumn = <T,>(name: string, cell: Cell<T>): Column<T> => ({
  ...endColumn(name, cell),
  wideOnly: true,
});

/**
 * The link that a row opens wherever it is clicked, and whose focus frames the row. A button does the same with the class
 * `opens`.
 */
export function RowLink({ className = "", ...link }: LinkProps) {
  return <Link {...link} className={`opens ${className}`} />;
}

/** Opens a row wherever it is clicked, as its link or button does (`opens`). */
export function openRow(event: MouseEvent<HTMLElement>): void {
  const { currentTarget, target, ctrlKey, metaKey, shiftKey } = event;
  // Other links and buttons act by themselves, and so does what selects text.
  const isOwn = (target as HTMLElement).closest("a,button,input,label,summary");
  if (isOwn || getSelection()?.toString()) return;
  const click = { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey };
  currentTarget.querySelector(".opens")?.dispatchEvent(new window.MouseEvent("click", click));
}

/** A first cell: the link of the row, and small text below. */
export function Titled({ to, title, children }: { to: string; title: string; children: ReactNode }) {
  return (
    <div className="titled">
      <RowLink to={to}>{title}</RowLink>
      <span className="muted small">{children}</span>
    </div>
  );
}

interface TableProps<T> {
  /** A label for screen readers. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** Default: its `id`, or what a list is known to have instead. */
  keyOf?(row: T): string;
}

export function Table<T extends object>({ label, columns, rows, keyOf = keyOfRow }: TableProps<T>) {
  const section = useKeptFocus<HTMLElement>();
  const classOf = ({ name, end, wideOnly, brief }: Column<T>) =>
    [name === "" && "act", end && "end", wideOnly && "wide-only", brief && "brief"]
      .filter(Boolean)
      .join(" ") || undefined;
  return (
    // Focusable, so that the keyboard can scroll it on narrow screens.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
    <section ref={section} className="table-wrap" aria-label={label} tabIndex={0}>
      <table className="table">
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
            <tr key={keyOf(row)} onClick={openRow}>
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

export interface ListProps<T> extends Omit<TableProps<T>, "rows"> {
  pages: Pages<T>;
  /** Above a non-empty table: an empty list shows its own action. */
  actions?: ReactNode;
  empty: ReactNode;
}

/** A table that loads: skeleton, failure, empty state, and more rows on demand. */
export function List<T extends object>({ pages, actions, empty, ...table }: ListProps<T>) {
  const { items, error, loading, more, reload, news } = pages;
  if (!items) return error === undefined ? <Skeleton lines={6} /> : <Failure error={error} retry={reload} />;
  if (items.length === 0 && !more) return empty;
  return (
    <>
      {actions && <div className="row end list-actions">{actions}</div>}
      <div className="live-list">
        <div className="news" role="status">
          {news && (
            <Button
              label={`${number(news.count)} new`}
              small
              kind="primary"
              icon={ArrowUp}
              onClick={news.show}
            />
          )}
        </div>
        <Table {...table} rows={items} />
        {error !== undefined && <Failure error={error} retry={more ?? reload} />}
        {more && (
          <div className="more">
            <Button label="Load more" small busy={loading} onClick={more} />
          </div>
        )}
      </div>
    </>
  );
}

interface LoadProps<T> {
  of: Pick<Loaded<T>, "data" | "error" | "reload">;
  lines?: number;
  children(data: T): ReactNode;
}

/** The loaded content; until then a skeleton or the failure. A failed reload appears above the old content. */
export function Load<T>({ of, lines, children }: LoadProps<T>) {
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

/**
 * For lists: if the focused element disappears, such as a deleted row or the button for more, moves the focus to the
 * list instead of the start of the page.
 */
function useKeptFocus<E extends HTMLElement>() {
  const list = useRef<E>(null);
  useEffect(() => {
    const near = list.current?.parentElement as HTMLElement;
    let held: Element | null = null;
    const note = ({ target }: FocusEvent) => {
      held = near.contains(target as Node) ? (target as Element) : null;
    };
    const watch = new MutationObserver(() => {
      if (!held || held.isConnected) return;
      held = null;
      if (document.activeElement === document.body) list.current?.focus({ preventScroll: true });
    });
    document.addEventListener("focusin", note);
    watch.observe(near, { childList: true, subtree: true });
    return () => {
      document.removeEventListener("focusin", note);
      watch.disconnect();
    };
  }, []);
  return list;
}
