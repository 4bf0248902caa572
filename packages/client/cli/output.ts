import { jsonLine } from "../lines.ts";
import { write } from "./colour.ts";
import type { Host } from "./environment.ts";
import { type Column, formatTable, inTimeZone } from "./table.ts";
import { Failure, UsageError } from "./usage.ts";

/** Writes results to standard output: text for people, or what `--json` or `--query` asks for. */
export interface Output {
  print(value: unknown, text: (() => string) | string): void;
  table<Row>(value: unknown, rows: readonly Row[], columns: Column<Row>[], empty: string): void;
}

/** Returns the columns of the terminal; undefined where there is none. */
export function widthOf({ stdout }: Pick<Host, "stdout">): number | undefined {
  return stdout.isTTY ? stdout.columns : undefined;
}

/** @param query a JMESPath expression over the value that `--json` prints */
export async function newOutput(
  { stdout, isColoured }: Host,
  json: boolean,
  query?: string,
  timezone?: string,
): Promise<Output> {
  const local = timezone === undefined ? (text: string) => text : inTimeZone(timezone);
  const pick = query === undefined ? undefined : await querying(query);
  const print: Output["print"] = (value, text) => {
    const shown = () => local(typeof text === "string" ? text : text());
    const asJson = () => (value === undefined ? undefined : jsonLine(value));
    const written = pick ? pick(value) : json ? asJson() : shown();
    if (written !== undefined) write(stdout, `${written}\n`, isColoured);
  };
  const width = widthOf({ stdout });
  return {
    print,
    table: (value, rows, columns, empty) => {
      // Before they are aligned.
      const inZone = columns.map(([name, of, colourOf]): (typeof columns)[number] => [
        name,
        (row) => {
          const shown = of(row);
          return typeof shown === "string" ? local(shown) : shown;
        },
        colourOf,
      ]);
      print(value, () => (rows.length ? formatTable(rows, inZone, width) : empty));
    },
  };
}

/** Returns a function that prints what an expression selects: texts bare, and the items of a list one per line. */
async function querying(query: string): Promise<(value: unknown) => string | undefined> {
  // Loaded only when it is needed.
  const { default: jmespath } = await import("jmespath");
  const search = (value: unknown) => {
    try {
      return jmespath.search(value, query);
    } catch (error) {
      const { name, message } = error as Error;
      if (/^(Parser|Lexer)Error$/.test(name))
        throw new UsageError(`--query is not a JMESPath expression: ${message}.`);
      throw new Failure(`--query: ${message}`, "query_failed");
    }
  };
  // Before anything is called.
  if (query.trim() === "") throw new UsageError("--query is empty.");
  try {
    search({});
  } catch (error) {
    if (error instanceof UsageError) throw error;
  }
  const bare = (value: unknown) => (typeof value === "string" ? value : jsonLine(value));
  return (value) => {
    // As JSON: without fields that are undefined.
    const found = search(JSON.parse(JSON.stringify(value ?? null)));
    if (found === null || found === undefined) return undefined;
    if (!Array.isArray(found)) return bare(found);
    return found.length ? found.map(bare).join("\n") : undefined;
  };
}
