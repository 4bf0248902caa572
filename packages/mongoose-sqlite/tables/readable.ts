import { Catalog, emptyTable, indexIdentifier, type Table } from "./catalog.ts";
import { missingLog, openUntouched } from "./data-file.ts";
import { documentOf } from "./out-of-line.ts";
import { type PackedField, toPacked } from "./packed.ts";
import { Statements } from "./statements.ts";

/** The rows of a table; `lost` is null if not even their number can be read. */
export interface Rows {
  read: number;
  lost: number | null;
}

/** Returns how a collection's documents are stored (`Storage` of the driver). */
export type StorageOf = (name: string) => {
  outOfLine?: string | undefined;
  packed?: readonly PackedField[] | undefined;
};

/** Faults that `PRAGMA integrity_check` lists at most. */
const MOST_PROBLEMS = 10;
/** Row ids never reach it. */
const END = Number.MAX_SAFE_INTEGER;

/** Row ids from `from` to before `to` that no statement reads. */
type Gap = { from: number; to: number };

/**
 * A data file with pages that may be damaged, as it was when it was opened: read around these, and never written.
 *
 * @throws Error if it is no database at all
 */
export class DamagedTables {
  readonly #statements: Statements;
  readonly #catalog: Catalog;
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
    this.#statements = new Statements(openUntouched(file));
    this.#catalog = new Catalog(this.#statements);
    this.#statements.run("BEGIN");
    this.#statements.row("SELECT count(*) FROM sqlite_schema");
  }

  /** Returns what SQLite finds wrong with the file, in its words: empty if nothing is. */
  problems(): string[] {
    const log = missingLog(this.#file);
    const found = log === null ? [] : [log];
    try {
      for (const [line] of this.#statements.rows<[string]>(`PRAGMA integrity_check(${MOST_PROBLEMS})`))
        found.push(...line.split("\n").filter((words) => words !== "ok" && !words.startsWith("***")));
    } catch (error) {
      found.push((error as Error).message);
    }
    return found;
  }

  /**
   * Returns the tables, by their stored descriptions; if these cannot be read, by the schema.
   *
   * @param storageOf returns how a collection is stored where its description is lost
   */
  tables(storageOf: StorageOf): Table[] {
    try {
      this.#catalog.refresh();
      return [...this.#catalog.tables.values()];
    } catch {
      const sql = "SELECT substr(name, 3) FROM sqlite_schema WHERE type = 'table' AND name GLOB 'd_*'";
      return this.#statements.rows<[string]>(sql).map(([name]) => {
        const { outOfLine, packed } = storageOf(name);
        return { ...emptyTable(name), outOfLine, packed: packed && toPacked(JSON.stringify(packed)) };
      });
    }
  }

  /** Yields the text of every document that can be read; returns their number, and that of the others. */
  *documents(table: Table): Generator<string, Rows> {
    const gaps: Gap[] = [];
    let read = 0;
    for (let next = 0; next < END; ) {
      try {
        const sql = `SELECT rid, ${documentOf(table)} FROM ${table.sql} WHERE rid >= ? ORDER BY rid`;
        for (const [rid, text] of this.#statements.iterate<[number, unknown]>(sql, next)) {
          if (rid < next) throw new Error("its rows are out of order");
          next = rid + 1;
          if (!isDocument(text)) continue;
          read++;
          yield text;
        }
        break;
      } catch {
        const gap = { from: next, to: this.#endOfGap(table, next) };
        gaps.push(gap);
        next = gap.to;
      }
    }
    const indexed = this.#indexed(table, gaps);
    for (const rid of indexed?.within ?? []) {
      const text = this.#one(table, rid);
      if (text === undefined) continue;
      read++;
      yield text;
    }
    const known = indexed && Math.max(0, indexed.count - read);
    return { read, lost: known ?? (gaps.length ? null : 0) };
  }

  /** Finds the next row id that can be looked for: in doubling steps, then by halves. */
  #endOfGap(table: Table, from: number): number {
    let failing = from;
    let step = 1;
    while (!this.#canSeek(table, failing + step)) {
      failing += step;
      step *= 2;
      if (failing + step >= END) return END;
    }
    let working = failing + step;
    while (working - failing > 1) {
      const middle = Math.floor((working + failing) / 2);
      if (this.#canSeek(table, middle)) working = middle;
      else failing = middle;
    }
    return working;
  }

  #canSeek(table: Table, rid: number): boolean {
    try {
      const sql = `SELECT rid, ${documentOf(table)} FROM ${table.sql} WHERE rid >= ? ORDER BY rid LIMIT 1`;
      const [found] = this.#statements.row<[number, string]>(sql, rid) ?? [END];
      return found >= rid;
    } catch {
      return false;
    }
  }

  /** Returns how many rows the index of their ids has, and which of them are in the gaps; undefined if it is damaged. */
  #indexed(table: Table, gaps: readonly Gap[]): { count: number; within: number[] } | undefined {
    const within: number[] = [];
    let count = 0;
    try {
      const sql = `SELECT rid FROM ${table.sql} INDEXED BY ${indexIdentifier(table, "_id_")}`;
      for (const [rid] of this.#statements.iterate<[number]>(sql)) {
        count++;
        if (gaps.some(({ from, to }) => rid >= from && rid < to)) within.push(rid);
      }
      return { count, within };
    } catch {
      return undefined;
    }
  }

  #one(table: Table, rid: number): string | undefined {
    try {
      const sql = `SELECT ${documentOf(table)} FROM ${table.sql} WHERE rid = ?`;
      const [text] = this.#statements.row<[unknown]>(sql, rid) ?? [];
      return isDocument(text) ? text : undefined;
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#statements.db.close();
  }
}

function isDocument(text: unknown): text is string {
  try {
    const value = typeof text === "string" && (JSON.parse(text) as unknown);
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
