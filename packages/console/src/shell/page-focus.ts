/** Rows of the lists of a page. */
const ROWS = "main :is(.table tbody tr, ol.framed > li)";
const CONTROL = "a[href], button, input";
const SEARCHES = ["[type=search]", ":is(search, .filters, .filter-line, .list-bar) :is(input, select)"];

/**
 * Moves the focus to another row: to its link, or else its first control. From elsewhere it goes to the first or last
 * row.
 *
 * @param within only from row to row
 * @returns whether there was a row to go to
 */
export function moveRow(step: 1 | -1, { within = false } = {}): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.querySelector(CONTROL));
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  if (within && at < 0) return false;
  const next = at < 0 ? rows.at(step > 0 ? 0 : -1) : (rows[at + step] ?? rows[at]);
  const control = next?.querySelector<HTMLElement>("a[href]") ?? next?.querySelector<HTMLElement>(CONTROL);
  control?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
  return control !== undefined && control !== null;
}

/** Ticks or unticks the row that has the focus. */
export function tickRow(): boolean {
  const row = document.activeElement?.closest(ROWS);
  const box = row?.querySelector<HTMLInputElement>("input[type=checkbox]");
  box?.click();
  return box !== undefined && box !== null;
}

/** Focuses the search of the page, or else its first filter. */
export function focusSearch(): boolean {
  for (const selector of SEARCHES) {
    const fields = [...document.querySelectorAll<HTMLInputElement>(`main ${selector}`)];
    const field = fields.find((each) => each.checkVisibility());
    if (!field) continue;
    field.focus();
    if (field instanceof HTMLInputElement) field.select();
    return true;
  }
  return false;
}
