/** Beginnings that spreadsheets take for a formula, also behind spaces. */
const FORMULA = /^\s*[=+\-@\t\r]/;

/**
 * Formats a row of a CSV file (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front, as
 * OWASP advises.
 */
export function csvRow(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => quoted(cell ?? "")).join()}\r\n`;
}

function quoted(cell: string): string {
  const safe = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
